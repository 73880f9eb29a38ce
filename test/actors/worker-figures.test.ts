/** What the dispatcher tells of the workers: how often, and when one comes or goes. */
import * as assert from 'uvu/assert'
import type { DeskMessage, DispatcherMessage } from '../../actors/cluster-messages.ts'
import { dispatcher } from '../../actors/dispatcher.ts'
import type { DispatcherPorts } from '../../actors/dispatcher-ports.ts'
import type { CollectorMessage, SupervisorMessage } from '../../actors/messages.ts'
import type { ErrorData } from '../../src/errors.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { WorkersEvent } from '../../src/telemetry/channels.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('figures of workers')

test('two hundred that give a sign each second are told of once a second, and one that has left soon after', async () => {
  const clock = new VirtualClock()
  const system = makeSystem({ node: 'main', clock, encodeLocal: true })
  const troubles: ErrorData[] = []
  const told: Omit<WorkersEvent, 'jobId'>[] = []
  const silent = { initial: () => null, receive: () => null }
  const nothing = async () => {}
  const ports: DispatcherPorts = {
    supervisor: system.spawn<null, SupervisorMessage>({ name: 'supervisor', ...silent }),
    collector: system.spawn<null, CollectorMessage>({ name: 'collector', ...silent }),
    strategy: { type: 'complete' },
    wanted: new Set(),
    putPlan() {},
    bury: () => ({ tag: 'buried', message: 'nothing is handed out' }),
    mostLosses: 3,
    purgePlans: nothing,
    settled: nothing,
    takenSoFar: nothing,
    journal: undefined,
    judgeWorker: () => undefined,
    silenceMs: 15_000,
    dropLink() {},
    onDead() {},
    reapAfterMs: 30_000,
    onWorkers() {},
    reaping: () => () => {},
    limits: { node: 'main', tell() {}, reach: () => root, drop() {}, close() {} },
    sandboxesOf: () => null,
    onFigures: figures => void told.push(figures),
    onTrouble: error => void troubles.push(error),
  }
  const root: Ref<DispatcherMessage> = system.spawn(dispatcher(ports))
  const desks = Array.from({ length: 200 }, (_, at) => {
    const desk = system.spawn<null, DeskMessage>({
      name: `desk-${at}`,
      initial: () => null,
      receive(state, _message, context) {
        context.stop()
        return state
      },
    })
    const worker = { node: `w${at}`, host: 'h', owner: `w${at}`, version: '1', protocol: 3, credits: 8 }
    const load = { rollouts: 0, groups: 0, runs: 0, isDraining: false }
    root.tell({ type: 'worker-up', worker, load, desk })
    return desk
  })
  for (let second = 1; second <= 20; second += 1) {
    for (let at = 0; at < 200; at += 1) {
      if (at % 20 === 0) await clock.advance(100)
      const load = { rollouts: at % 9, groups: 1, runs: 10 * second, isDraining: false }
      root.tell({ type: 'worker-beat', node: `w${at}`, credits: 8, load })
    }
    await settle()
  }
  assert.ok(told.length >= 19 && told.length <= 21, `${told.length} in 20 seconds`)
  const last = told.at(-1)
  assert.equal([last?.workers, last?.credits, last?.each.length], [200, 1_600, 200])
  assert.is(last?.each[0]?.rate.toFixed(0), '10')
  desks[7]?.tell({ type: 'close-desk' })
  await settle()
  const before = told.length
  await clock.advance(500)
  assert.is(told.length, before + 1)
  assert.equal([told.at(-1)?.workers, told.at(-1)?.each.at(-1)?.state], [199, 'left'])
  assert.equal(troubles, [])
  await system.stop()
})

test.run()
