import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { startPolicy } from '../../src/policy/index.ts'
import { makeRandom, shuffle } from '../../src/random.ts'
import { toPacked, toRun } from '../../src/rollout/pack.ts'
import type { Run } from '../../src/rollout/run.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { TrainingClient } from '../../src/training/client.ts'
import { type TrainShape, train } from '../../src/training/loop/index.ts'
import type { StepRecord } from '../../src/training/records.ts'
import type { Trainer } from '../../src/training/trainer.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('learning is real')

const arith = (name: string) => join(repository, 'environments/arith', name)
const GROUP = 8
const SEED = 11

/** A training of the arith policy by the real loop, engine and server; what its steps were. */
async function learn(shape: Partial<TrainShape>, wrap: (trainer: Trainer) => Trainer = trainer => trainer) {
  await using policy = await startPolicy({ base: arith('policy.base') })
  await using client = new TrainingClient(policy)
  await using job = await Job.start('learning', { runtime: new LocalRuntime(arith('env.ts')), threads: 1, seed: SEED })
  const agent = createAgent(policy, { completionKwargs: { extra_body: { return_token_ids: true } } })
  const steps: StepRecord[] = []
  const events = train({
    steps: 7,
    group: GROUP,
    learningRate: 2e-3,
    ...shape,
    job,
    taskset: await Taskset.load(arith('tasks.ts')),
    agent,
    trainer: wrap(client),
  })
  for await (const event of events) if (event.type === 'step-ended') steps.push(event.record)
  return steps
}

const rateOf = (steps: readonly StepRecord[]) =>
  steps.reduce((sum, { solved }) => sum + solved, 0) / steps.reduce((sum, { runs }) => sum + runs, 0)

/** The same rewards, in each group in another order: whatever is learned from them is not the task. */
function shufflingRewards(trainer: Trainer): Trainer {
  const random = makeRandom(3)
  const shuffled = (runs: readonly Run[], groupSize: number) =>
    Array.from({ length: runs.length / groupSize }, (_, place) => {
      const group = runs.slice(place * groupSize, (place + 1) * groupSize)
      const rewards = shuffle(
        group.map(({ reward }) => reward),
        random,
      )
      return group.map((run, member) => toRun({ ...run, reward: rewards[member] ?? null }, toPacked(run)))
    }).flat()
  return {
    model: trainer.model,
    forwardBackward: (runs, options) =>
      trainer.forwardBackward(shuffled(runs, options?.groupSize ?? runs.length), options),
    optimStep: options => trainer.optimStep(options),
    policyVersion: () => trainer.policyVersion(),
  }
}

let first: readonly StepRecord[]

test('the pass rate rises, by the optimiser steps alone', async () => {
  first = await learn({})
  assert.is(first.length, 7)
  assert.ok(first.every(({ end, errored }) => end.type === 'trained' && errored === 0))
  const [start, end] = [rateOf(first.slice(0, 1)), rateOf(first.slice(-2))]
  assert.ok(end > start + 0.15, `from ${start} to ${end}`)
})

test('the same seed gives the same run', async () => {
  const again = await learn({})
  const figures = (steps: readonly StepRecord[]) =>
    steps.map(({ solved, groupSpread, samples, tokens, loss, datums, chunks }) => ({
      solved,
      groupSpread,
      samples,
      tokens,
      loss,
      datums,
      chunks,
    }))
  assert.equal(figures(again), figures(first))
})

test('with rewards shuffled within groups nothing of the task is learned', async () => {
  const steps = await learn({}, shufflingRewards)
  const [start, end] = [rateOf(steps.slice(0, 1)), rateOf(steps.slice(-2))]
  assert.ok(end < start + 0.1, `from ${start} to ${end}`)
})

test.run()
