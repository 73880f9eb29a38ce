import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Run } from '../../src/rollout/run.ts'
import type { TrainingClient } from '../../src/training/client.ts'
import type { Trainer } from '../../src/training/trainer.ts'
import type { Suite } from '../support/suite.ts'
import { makeTrainingGroups, makeTrainingRun, type TrainingRunOptions } from '../training/fixtures.ts'

/** A trainer whose service keeps a tree of checkpoints. */
type CheckpointTrainer = Pick<
  TrainingClient,
  'model' | 'forwardBackward' | 'optimStep' | 'policyVersion' | 'checkpoints' | 'head' | 'setHead'
>

export interface TrainerCase<Kind extends Trainer = Trainer> {
  /** A trainer of a model that was never trained, and how to get rid of both. */
  readonly open: () => Promise<{ readonly trainer: Kind; readonly remove: () => Promise<void> }>
  /** What tokens the model takes: ids below `vocabulary` (default 32), at most 8 in a prompt and its output. */
  readonly vocabulary?: number
}

const LEARNING_RATE = 1e-5
const SIZE = 4

function declare<Kind extends Trainer>(test: Suite, name: string, { open, vocabulary = 32 }: TrainerCase<Kind>) {
  const contract = (title: string, body: (trainer: Kind) => Promise<void>) =>
    test(`${name}: ${title}`, async () => {
      const { trainer, remove } = await open()
      try {
        await body(trainer)
      } finally {
        await remove()
      }
    })
  const groups = (count: number, given: TrainingRunOptions = {}) =>
    makeTrainingGroups(count, SIZE, { vocabulary, ...given })
  const train = async (trainer: Kind) => {
    await trainer.forwardBackward(groups(2), { groupSize: SIZE })
    return trainer.optimStep({ learningRate: LEARNING_RATE })
  }
  return { contract, groups, train, vocabulary }
}

/** What every trainer owes the loop that drives it. */
export function trainerContract(test: Suite, name: string, given: TrainerCase): void {
  const { contract, groups, train, vocabulary } = declare(test, name, given)
  const refuses = async (trainer: Trainer, runs: readonly Run[], tag: string, says: RegExp) => {
    await assertRejects(trainer.forwardBackward(runs, { groupSize: SIZE }), tag, says)
    // Refused means refused: nothing of it is there to be applied.
    await assertRejects(trainer.optimStep({ learningRate: LEARNING_RATE }))
  }

  contract('gradients accumulate over calls, and each step counts one up', async trainer => {
    const first = await trainer.forwardBackward(groups(2, { turns: 3 }), { groupSize: SIZE })
    assert.is(first.numDatums, 2 * SIZE * 3)
    assert.ok(Number.isFinite(first.metrics['loss:sum']))
    await trainer.forwardBackward(groups(1), { groupSize: SIZE, lossFn: 'importance_sampling', rewardScale: 2 })
    const one = await trainer.optimStep({ learningRate: LEARNING_RATE })
    const two = await train(trainer)
    if (one.step !== undefined) assert.is(two.step, one.step + 1)
    assert.is.not(two.policyVersion, one.policyVersion)
  })

  contract('the version it serves is none at first, and then that of the newest step', async trainer => {
    assert.is(await trainer.policyVersion(), null)
    await trainer.forwardBackward(groups(1), { groupSize: SIZE })
    assert.is(await trainer.policyVersion(), null, 'a gradient that is not applied changes nothing')
    const one = await trainer.optimStep({ learningRate: LEARNING_RATE })
    assert.is(await trainer.policyVersion(), one.policyVersion)
    const two = await train(trainer)
    assert.is(await trainer.policyVersion(), two.policyVersion)
    assert.is(await trainer.policyVersion(), two.policyVersion, 'asking changes nothing')
  })

  contract('where it tells what it holds, it counts the calls since the last step', async trainer => {
    if ((await trainer.state?.()) === undefined) return
    const { step = 1 } = await train(trainer)
    await trainer.forwardBackward(groups(1), { groupSize: SIZE })
    await trainer.forwardBackward(groups(1), { groupSize: SIZE })
    assert.equal(await trainer.state?.(), { step, calls: 2 })
    await trainer.optimStep({ learningRate: LEARNING_RATE })
    assert.equal(await trainer.state?.(), { step: step + 1, calls: 0 })
  })

  contract('a step without anything accumulated is an error, and no version', async trainer => {
    await assertRejects(trainer.optimStep({ learningRate: LEARNING_RATE }))
    assert.is(await trainer.policyVersion(), null)
    const { policyVersion } = await train(trainer)
    await assertRejects(trainer.optimStep({ learningRate: LEARNING_RATE }))
    assert.is(await trainer.policyVersion(), policyVersion)
  })

  contract('a group size that does not divide is refused', async trainer => {
    await refuses(trainer, groups(2).slice(1), 'group-size-mismatch', /7 runs.*groups of 4/)
  })

  contract('advantages are taken from whole groups alone: a short one beside a long one is refused', async trainer => {
    const runs = groups(2)
    const moved = [...runs.slice(1), makeTrainingRun({ group: 1, member: 9, vocabulary })]
    await refuses(trainer, moved, 'group-not-together', /run-1-0.*group-1/)
  })

  contract(
    'advantages are taken from whole groups alone: members that are not side by side are refused',
    async trainer => {
      const [first, ...rest] = groups(2)
      const last = rest.pop()
      await refuses(
        trainer,
        [last, ...rest, first].flatMap(run => run ?? []),
        'group-not-together',
        /side by side/,
      )
    },
  )

  contract('a run without a reward is refused by name', async trainer => {
    const runs = [...groups(1).slice(1), makeTrainingRun({ member: 7, reward: null, vocabulary })]
    await refuses(trainer, runs, 'no-reward', /run-0-7/)
  })

  contract('a run without tokens is refused by name', async trainer => {
    const runs = [...groups(1).slice(1), makeTrainingRun({ member: 7, tokens: [undefined] })]
    await refuses(trainer, runs, 'no-tokens', /run-0-7/)
  })

  contract('ids and log-probabilities of unequal length are refused by run and turn', async trainer => {
    const good = { prompt: Uint32Array.of(1), output: Uint32Array.of(2, 3), logprobs: Float32Array.of(-1, -2) }
    const tokens = [good, { ...good, logprobs: Float32Array.of(-1) }]
    const runs = [...groups(1).slice(1), makeTrainingRun({ member: 7, tokens })]
    await refuses(trainer, runs, 'unequal-tokens', /turn 1 of run run-0-7/)
  })
}

/** What a trainer owes those who look at the tree of its checkpoints besides. */
export function checkpointContract(test: Suite, name: string, given: TrainerCase<CheckpointTrainer>): void {
  const { contract, groups, train } = declare(test, name, given)

  contract('each step adds a node to the tree, and the newest is served', async trainer => {
    assert.is(await trainer.head(), undefined)
    const one = await train(trainer)
    const two = await train(trainer)
    const nodes = await trainer.checkpoints()
    const [older, newer] = nodes.slice(-2)
    assert.equal([older?.id, newer?.id], [one.policyVersion, two.policyVersion])
    assert.is(newer?.parentId, one.policyVersion)
    assert.equal(
      nodes.filter(node => node.isActive).map(({ id }) => id),
      [two.policyVersion],
    )
    assert.is((await trainer.head())?.id, two.policyVersion)
  })

  contract('after a roll-back the next step branches from the older node', async trainer => {
    const one = await train(trainer)
    const two = await train(trainer)
    await trainer.setHead(one.policyVersion)
    assert.is((await trainer.head())?.id, one.policyVersion)
    const three = await train(trainer)
    const nodes = await trainer.checkpoints()
    assert.is(nodes.find(({ id }) => id === three.policyVersion)?.parentId, one.policyVersion)
    assert.ok(
      nodes.some(({ id }) => id === two.policyVersion),
      'what was rolled back is still there',
    )
    await assertRejects(trainer.setHead('00000000-0000-4000-8000-000000000000'))
    assert.is((await trainer.head())?.id, three.policyVersion)
  })

  contract('a learning rate of 0 or below is refused, and what was accumulated stays', async trainer => {
    await trainer.forwardBackward(groups(1), { groupSize: SIZE })
    for (const learningRate of [0, -1e-5, Number.NaN])
      await assertRejects(trainer.optimStep({ learningRate }), 'bad-training-option', /learningRate/)
    await trainer.optimStep({ learningRate: LEARNING_RATE })
  })
}

/** Any rejection; with a tag, the one that has it, in words that match. */
async function assertRejects(promise: Promise<unknown>, tag?: string, says: RegExp = /./): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown ?? 'nothing',
  )
  assert.ok(error !== undefined, 'it did not reject')
  if (tag === undefined) return
  assert.ok(hasTag(error, tag), `${tag} was expected, not ${String(error)}`)
  assert.match(error.message, says)
}
