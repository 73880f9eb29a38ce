/** A training service that takes a call and does not say so, or says no: with the real client, the real loop and real rollouts. */
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { toErrorData } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import { TrainingClient } from '../../src/training/client.ts'
import { train } from '../../src/training/loop/index.ts'
import { type FakeRequest, type FakeStep, startFakeChatServer } from '../support/fake-chat-server.ts'
import { type FakeTrainingService, type Fault, startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'
import { checkConservation, type Kept, NO_FAILURE, readKept } from './harness/conservation.ts'
import { closeAndTell, localRuntime, makeTaskset, type Outcome } from './harness/perform.ts'
import { type FaultScene, withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of the trainer')

const STEPS = 2
const GROUPS = 4
const MEMBERS = 2
/** Two calls a step. */
const CHUNK = 4
const CLIENT_MS = 1_500

/** Every second answer to a prompt is wrong, so that rewards differ within each group. */
function halfRight(): (request: FakeRequest) => FakeStep {
  const asked = new Map<string, number>()
  return ({ messages }) => {
    const number = /say (\d+)/.exec(JSON.stringify(messages))?.[1] ?? ''
    const before = asked.get(number) ?? 0
    asked.set(number, before + 1)
    return { text: before % 2 === 0 ? number : 'nothing' }
  }
}

interface Trained {
  readonly outcome: Outcome
  readonly kept: Kept
  readonly service: FakeTrainingService
  readonly dropped: readonly Readonly<Record<string, number>>[]
  readonly adopted: number
}

/** A whole training; `fault` meets the first request for `route` of one step. */
async function trainWith(
  scene: FaultScene,
  seed: number,
  { route, fault, step }: { readonly route: string; readonly fault: Fault; readonly step: number },
): Promise<Trained> {
  const model = await startFakeChatServer(halfRight())
  const service = await startFakeTrainingService()
  const trainer = new TrainingClient('calc-model', { ...service.endpoint, deadlineMs: CLIENT_MS })
  try {
    const agent = createAgent('org/tiny', {
      endpoint: { inferenceUrl: model.url },
      completionKwargs: { extra_body: { return_token_ids: true } },
    })
    const job = await Job.start('trained', { runtime: localRuntime(scene), threads: 1, journal: scene.journal, seed })
    const shape = { steps: STEPS, group: MEMBERS, chunk: { trajectories: CHUNK }, learningRate: 0.1 }
    const training = train({ job, taskset: makeTaskset(GROUPS), agent, trainer, settleMs: 0, ...shape })
    let adopted = 0
    let error: unknown
    try {
      for await (const event of training) {
        if (event.type === 'step-began' && event.step === step) service.failNext(route, fault)
        if (event.type === 'adopted') adopted += 1
      }
    } catch (thrown) {
      error = thrown
    }
    const planned = { groups: STEPS * GROUPS, runs: STEPS * GROUPS * MEMBERS }
    const outcome = await closeAndTell(job, planned, error === undefined ? undefined : toErrorData(error))
    assert.equal([outcome.error, outcome.closing], [undefined, undefined])
    const dropped = training.history.steps.map(({ groups }) => groups.dropped)
    return { outcome, kept: await readKept(scene.journal, job.jobId), service, dropped, adopted }
  } finally {
    await trainer.close()
    await service.close()
    await model.close()
  }
}

/** No rollout's tokens went out twice, and the ledger has an end for each group. */
function checkAtMostOnce({ outcome, kept, service }: Trained): void {
  checkConservation(outcome, kept, NO_FAILURE)
  const sent = service.deliveries
    .filter(({ route }) => route === 'forward-backward')
    .flatMap(({ body }) => firstTokens(body))
  assert.is(sent.length, kept.runs.length)
  assert.is(new Set(sent).size, sent.length, 'nothing is sent twice')
  for (const { consumption, groupId } of kept.groups) assert.is.not(consumption, 'pending', groupId)
}

/** Each completion of the fake model begins with a token of its own. */
function firstTokens(body: unknown): number[] {
  const { inputs } = body as {
    readonly inputs: readonly { readonly samples: readonly { readonly output_token_ids: readonly number[] }[] }[]
  }
  return inputs.flatMap(({ samples }) => samples.flatMap(({ output_token_ids: [first] }) => first ?? []))
}

const UNSURE: readonly [Fault, ...Fault[]] = [
  { type: 'answer', status: 504, acted: true },
  { type: 'answer', status: 502 },
  { type: 'silence' },
  { type: 'close' },
]

faultTest(
  test,
  'a call that may have been taken is never sent again, and the ledger says that nobody knows',
  { seeds: 6 },
  draw =>
    withFaultScene([], async scene => {
      const step = draw.whole(0, STEPS - 1)
      const trained = await trainWith(scene, draw.seed, { route: 'forward-backward', fault: draw.one(UNSURE), step })
      checkAtMostOnce(trained)
      const inCall = CHUNK / MEMBERS
      assert.equal(trained.dropped[step], { 'delivery-unknown': inCall })
      const unsure = trained.kept.groups.filter(({ reason }) => reason === 'delivery-unknown')
      assert.equal(
        unsure.map(group => [group.step, group.consumption]),
        Array(inCall).fill([step, 'dropped']),
      )
      assert.is(trained.service.count('optim-step'), STEPS)
      return 1
    }),
)

faultTest(test, 'an optimiser step that was taken and not answered is adopted, not taken again', { seeds: 2 }, draw =>
  withFaultScene([], async scene => {
    const fault: Fault = { type: 'answer', status: 504, acted: true }
    const trained = await trainWith(scene, draw.seed, { route: 'optim-step', fault, step: draw.whole(0, STEPS - 1) })
    checkAtMostOnce(trained)
    assert.equal(
      [trained.adopted, trained.service.count('optim-step'), trained.service.model().step],
      [1, STEPS, STEPS],
    )
    return 1
  }),
)

faultTest(test, 'a call that was refused for what it is costs its groups and no other', { seeds: 2 }, draw =>
  withFaultScene([], async scene => {
    const step = draw.whole(0, STEPS - 1)
    const fault: Fault = { type: 'answer', status: 422, body: '{"detail": "no such thing"}' }
    const trained = await trainWith(scene, draw.seed, { route: 'forward-backward', fault, step })
    checkAtMostOnce(trained)
    assert.equal(trained.dropped[step], { rejected: CHUNK / MEMBERS })
    return 1
  }),
)

runFaults(test)
