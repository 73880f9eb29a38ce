import type { Actor } from './actor.ts'
import { Cell } from './cell.ts'
import { badName, nameInUse, spawnWhileStopping } from './errors.ts'
import type { Ref } from './ref.ts'

/** Starts `actor` as a child of `parent`. Throws when the name is bad or in use, or when the parent is stopping. */
export function spawnChild<State, Message>(parent: Cell, actor: Actor<State, Message>, name?: string): Ref<Message> {
  if (!parent.open) throw spawnWhileStopping(parent.address)
  const childName = checkName(name ?? `${actor.name}-${parent.nextChildNumber()}`)
  const running = parent.ties?.children.get(childName)
  if (running !== undefined) throw nameInUse(running.address)
  const path = parent.path === '' ? childName : `${parent.path}/${childName}`
  const child = new Cell(parent.kernel, eraseTypes(actor), path, parent)
  parent.tied.children.set(childName, child)
  child.start()
  return child
}

export function checkName(name: string): string {
  if (name === '' || /[/#]/.test(name)) throw badName(name)
  return name
}

/** A cell keeps each actor's own state and messages together, which is what the types would say if they could. */
function eraseTypes<State, Message>(actor: Actor<State, Message>): Actor<unknown, unknown> {
  return actor as unknown as Actor<unknown, unknown>
}
