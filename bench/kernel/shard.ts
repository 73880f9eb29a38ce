import type { Actor } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import type { ActorSystem } from '../../src/kernel/system.ts'
import type { BenchMessage } from './messages.ts'

/** The actor of all measurements of ours, near and far. */
export const benchActor: Actor<number, BenchMessage> = {
  name: 'bench',
  capacity: 65_536,
  initial: () => 0,
  receive(ticks, message, context) {
    switch (message.type) {
      case 'tick':
        return ticks + 1
      case 'double':
        context.reply(message, message.value * 2)
        return ticks
      case 'how-many':
        context.reply(message, ticks)
        return ticks
    }
  },
}

export function startShard(system: ActorSystem): Ref<never> {
  return system.spawn(benchActor)
}
