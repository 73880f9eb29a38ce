import { dispatch, query, spawn, start, stop } from 'nact'
import { createActor, fromTransition } from 'xstate'
import type { Actor } from '../../../src/kernel/actor.ts'
import { makeSystem } from '../../../src/kernel/system.ts'
import { type Case, inFlight } from '../../kernel/measure.ts'
import { type BenchMessage, type Double, howMany, type Tick, tick } from '../../kernel/messages.ts'
import { benchActor } from '../../kernel/shard.ts'

const BURST = 50_000
const QUESTIONS = 20_000
const ACTORS = 2_000
const DEADLINE_MS = 10_000
const double: Double = { type: 'double', value: 21 }

/** Cases by figure and library, and how the libraries are ended. */
export interface Bout {
  readonly cases: readonly Case[]
  close(): Promise<void>
}

/** Actors of one thread: ours, xstate's (which cannot be asked) and nact's. */
export function openNear(): Bout {
  const system = makeSystem({ node: 'peers' })
  const actor = system.spawn(benchActor)
  const counter = fromTransition((ticks: number, message: Tick) => (message.type === 'tick' ? ticks + 1 : ticks), 0)
  const machine = createActor(counter).start()
  const nact = start()
  const nactActor = spawn(nact, countInNact)
  return {
    cases: [
      {
        name: 'tell ours',
        operations: BURST,
        async run() {
          for (let index = 0; index < BURST; index += 1) actor.tell(tick(index))
          await system.ask(actor, howMany, DEADLINE_MS)
        },
      },
      {
        name: 'tell xstate',
        operations: BURST,
        run() {
          for (let index = 0; index < BURST; index += 1) machine.send(tick(index))
        },
      },
      {
        name: 'tell nact',
        operations: BURST,
        async run() {
          for (let index = 0; index < BURST; index += 1)
            dispatch(nactActor, { message: tick(index), sender: undefined })
          await query(nactActor, sender => ({ message: howMany, sender }), DEADLINE_MS)
        },
      },
      {
        name: 'ask ours',
        operations: QUESTIONS,
        run: () => inFlight(QUESTIONS, () => system.ask(actor, double, DEADLINE_MS)),
      },
      {
        name: 'ask nact',
        operations: QUESTIONS,
        run: () => inFlight(QUESTIONS, () => query(nactActor, sender => ({ message: double, sender }), DEADLINE_MS)),
      },
      {
        name: 'spawn ours',
        operations: ACTORS,
        run: () =>
          untilGone(ACTORS, gone => {
            const mayfly = makeMayfly(gone)
            for (let index = 0; index < ACTORS; index += 1) system.spawn(mayfly).tell(tick(index))
          }),
      },
      {
        name: 'spawn xstate',
        operations: ACTORS,
        run() {
          for (let index = 0; index < ACTORS; index += 1) {
            const each = createActor(counter).start()
            each.send(tick(index))
            each.stop()
          }
        },
      },
      {
        name: 'spawn nact',
        operations: ACTORS,
        run: () =>
          untilGone(ACTORS, gone => {
            for (let index = 0; index < ACTORS; index += 1) {
              const each = spawn(nact, (ticks: number = 0, _message: Tick, context) => {
                stop(context.self)
                gone()
                return ticks + 1
              })
              dispatch(each, tick(index))
            }
          }),
      },
    ],
    async close() {
      machine.stop()
      stop(nact)
      await system.stop()
    },
  }
}

interface NactMessage {
  readonly message: BenchMessage
  readonly sender: Parameters<typeof dispatch>[0] | undefined
}

function countInNact(ticks: number = 0, { message, sender }: NactMessage): number {
  if (message.type === 'tick') return ticks + 1
  if (sender !== undefined) dispatch(sender, message.type === 'double' ? message.value * 2 : ticks)
  return ticks
}

/** Gone after its first message, so that a spawn is measured with all that an actor's life costs. */
function makeMayfly(gone: () => void): Actor<number, Tick> {
  return {
    name: 'mayfly',
    initial: () => 0,
    receive(ticks, _message, context) {
      context.stop()
      return ticks + 1
    },
    onStop: gone,
  }
}

function untilGone(count: number, begin: (gone: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    let left = count
    begin(() => {
      left -= 1
      if (left === 0) resolve()
    })
  })
}
