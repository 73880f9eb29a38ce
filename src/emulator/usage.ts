import type { Quota } from './context.ts'
import { refused } from './errors.ts'
import type { Resources, SandboxState } from './sandbox.ts'

/** What the sandboxes of the account use at once, kept as they come and go. */
export function makeUsage(quota: Quota) {
  const used = { cpu: 0, memory: 0, disk: 0 }

  function add({ cpu, memory, disk }: Resources, sign: 1 | -1): void {
    used.cpu += sign * cpu
    used.memory += sign * memory
    used.disk += sign * disk
  }

  return {
    used: used as Readonly<Resources>,
    /** Throws in the provider's words when one more of these would be too much. */
    require({ cpu, memory, disk }: Resources): void {
      if (used.cpu + cpu > quota.cpu) throw refused(400, `Total CPU limit exceeded. Maximum allowed: ${quota.cpu}.`)
      if (used.memory + memory > quota.memory)
        throw refused(400, `Total memory limit exceeded. Maximum allowed: ${quota.memory}GiB.`)
      if (used.disk + disk > quota.disk)
        throw refused(400, `Total disk limit exceeded. Maximum allowed: ${quota.disk}GiB.`)
    },
    /** A sandbox goes from one state to another; undefined is before and after its existence. */
    move(resources: Resources, from: SandboxState | undefined, to: SandboxState | undefined): void {
      if (isCounted(from) === isCounted(to)) return
      add(resources, isCounted(to) ? 1 : -1)
    },
  }
}

export type Usage = ReturnType<typeof makeUsage>

function isCounted(state: SandboxState | undefined): boolean {
  return state !== undefined && state !== 'stopped' && state !== 'error' && state !== 'destroyed'
}
