import { createActor, fromTransition } from 'xstate'
import { makeSystem } from '../../src/kernel/system.ts'
import type { Given } from '../given.ts'
import { mapFigure, measureRates, toCell } from '../measure.ts'
import { type BenchTable, formatNumber } from '../table.ts'
import { type Double, howMany, type Tick, tick } from './messages.ts'
import { benchActor } from './shard.ts'

const BURST = 50_000
const IN_FLIGHT = 1_000

/** Actors of one thread, with refs, bounds and supervision, beside a pure transition of xstate. */
export async function nearRows({ quick, signal }: Given): Promise<BenchTable['rows']> {
  const system = makeSystem({ node: 'bench' })
  const actor = system.spawn(benchActor)
  // The lightest logic xstate has, called without its interpreter: a machine with an `assign` takes many times as long.
  const logic = fromTransition((ticks: number, message: Tick) => (message.type === 'tick' ? ticks + 1 : ticks), 0)
  const scope = undefined as never
  const askDouble = (value: number) => {
    const question: Double = { type: 'double', value }
    return system.ask(actor, question, 10_000)
  }
  const rateOf = await measureRates(
    [
      {
        name: 'tell',
        operations: BURST,
        async run() {
          for (let index = 0; index < BURST; index += 1) actor.tell(tick(index))
          await system.ask(actor, howMany, 10_000)
        },
      },
      {
        name: 'xstate',
        operations: BURST,
        run() {
          let snapshot = createActor(logic).getSnapshot()
          for (let index = 0; index < BURST; index += 1) snapshot = logic.transition(snapshot, tick(index), scope)
        },
      },
      {
        name: 'ask',
        operations: BURST,
        run: () => askInBursts(askDouble),
      },
    ],
    quick ? 3 : 9,
    signal,
  )
  await system.stop()
  const [tell, xstate, ask] = (['tell', 'xstate', 'ask'] as const).map(name => mapFigure(rateOf(name), toMillions))
  if (tell === undefined || xstate === undefined || ask === undefined) return []
  const ratio = tell.value / xstate.value
  return [
    { name: 'tell, same thread', ...toCell(tell, 'M/s'), aim: '>= 15 M/s', met: tell.value >= 15 },
    {
      name: 'tell, same thread',
      ...toCell(tell, 'M/s'),
      reference: `xstate transition ${formatNumber(xstate.value)} M/s`,
      ratio,
      aim: '>= 2.5 x',
      met: ratio >= 2.5,
    },
    { name: 'ask, same thread', ...toCell(ask, 'M/s'), aim: '>= 5 M/s', met: ask.value >= 5 },
  ]
}

const toMillions = (perSecond: number) => perSecond / 1e6

/** A thousand questions open at a time; each answer is handled by a callback, so that no async function is measured with it. */
function askInBursts(ask: (value: number) => Promise<number>): Promise<void> {
  return new Promise(resolve => {
    let answered = 0
    const handle = () => {
      answered += 1
      if (answered === BURST) resolve()
      else if (answered % IN_FLIGHT === 0) burst()
    }
    const burst = () => {
      for (let index = 0; index < IN_FLIGHT; index += 1) ask(index).then(handle)
    }
    burst()
  })
}
