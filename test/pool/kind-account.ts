import type { SandboxId } from '../../src/ids.ts'

/** Which kind of task each sandbox was made for: none of a kind of its own serves another, is forked, or is a fork. */
export class KindAccount {
  private readonly kinds = new Map<SandboxId, string | undefined>()

  begin(id: SandboxId, kind: string | undefined, parent: SandboxId | undefined): void {
    this.kinds.set(id, kind)
    if (parent !== undefined && (kind !== undefined || this.kinds.get(parent) !== undefined))
      throw new Error(`${id} is a fork of ${parent}, and one of them is of a kind of its own`)
  }

  granted(id: SandboxId, kind: string | undefined): void {
    if (this.kinds.get(id) !== kind) throw new Error(`${id}, made for ${this.kinds.get(id)}, was leased for ${kind}`)
  }
}
