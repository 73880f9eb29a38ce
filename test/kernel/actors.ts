import type { Actor, Signal, Supervision } from '../../src/kernel/actor.ts'
import type { Question, Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem, type SystemOptions } from '../../src/kernel/system.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/** A system on a clock that stands still, whose local messages go through the codec. */
export function makeTestSystem(options: Partial<SystemOptions> = {}): { system: ActorSystem; clock: VirtualClock } {
  const clock = new VirtualClock()
  return { system: makeSystem({ node: 'test', clock, random: () => 0, encodeLocal: true, ...options }), clock }
}

export interface Count extends Question<number> {
  readonly type: 'count'
}
export type CounterMessage = { readonly type: 'add' } | { readonly type: 'fail'; readonly tag?: string } | Count

export const count: Count = { type: 'count' }

/** Counts; throws when told to. `log` hears of starts and stops. */
export function counter(log: string[] = [], name = 'counter'): Actor<number, CounterMessage> {
  return {
    name,
    initial() {
      log.push(`${name} started`)
      return 0
    },
    receive(state, message, context) {
      if (message.type === 'fail') throw Object.assign(new Error('told to fail'), { code: message.tag ?? 'FAILED' })
      if (message.type === 'add') return state + 1
      context.reply(message, state)
      return state
    },
    onStop() {
      log.push(`${name} stopped`)
    },
  }
}

export const restartAtOnce: Supervision = {
  decide: () => 'restart',
  intensity: 3,
  periodMs: 5_000,
  backoff: { baseMs: 100, maxMs: 1_000 },
}

export interface AskChild extends Question<Ref<CounterMessage>> {
  readonly type: 'child'
}
export interface AskSignals extends Question<readonly Signal[]> {
  readonly type: 'signals'
}
export type ParentMessage = AskChild | AskSignals

export const askChild: AskChild = { type: 'child' }
export const askSignals: AskSignals = { type: 'signals' }

/** Keeps what it is told. */
export function recorder<Message>(heard: Message[], capacity?: number): Actor<undefined, Message> {
  return {
    name: 'recorder',
    initial: () => undefined,
    receive(state, message) {
      heard.push(message)
      return state
    },
    ...(capacity === undefined ? {} : { capacity }),
  }
}

interface Family {
  readonly child: Ref<CounterMessage>
  readonly signals: readonly Signal[]
}

/** Has one counter as its child, passes messages on to it and keeps its signals. */
export function parent(supervision: Supervision, log: string[] = []): Actor<Family, ParentMessage> {
  return {
    name: 'parent',
    supervision,
    initial(context) {
      log.push('parent started')
      return { child: context.spawn(counter(log, 'child'), 'child'), signals: [] }
    },
    receive(state, message, context) {
      if (message.type === 'signals') context.reply(message, state.signals)
      else context.reply(message, state.child)
      return state
    },
    onSignal: (state, signal) => ({ ...state, signals: [...state.signals, signal] }),
  }
}
