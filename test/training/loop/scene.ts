import {
  type Training,
  type TrainingEvent,
  type TrainingHistory,
  type TrainOptions,
  train,
} from '../../../src/training/loop/index.ts'
// Loaded with the first training only, which tests that count turns of the event loop are not to wait for.
import '../../../src/training/loop/run-training.ts'
import { standingClock, tasksOf, World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'

type Given = Partial<TrainOptions> & {
  readonly world?: World
  readonly service?: FakeService
}

/** A training of four tasks, groups of two, two groups a call, unless something else is said. */
export function makeTraining(given: Given = {}): {
  readonly world: World
  readonly service: FakeService
  readonly training: Training
} {
  const { world = new World(), service = new FakeService(), ...options } = given
  const training = train({
    job: options.job ?? world.job(),
    taskset: tasksOf(4),
    agent: { kind: 'scripted', config: {} },
    trainer: service.client(),
    steps: 2,
    group: 2,
    chunk: { trajectories: 4 },
    learningRate: 0.1,
    scaleByGroups: false,
    clock: standingClock,
    settleMs: 0,
    ...options,
  })
  return { world, service, training }
}

export async function collectEvents(training: Training): Promise<TrainingEvent[]> {
  const events: TrainingEvent[] = []
  for await (const event of training) events.push(event)
  return events
}

/** A promise, and what resolves it. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** Without what depends on how fast the machine was. */
export function timeless({ steps, evaluations }: TrainingHistory) {
  return {
    steps: steps.map(({ startedAt: _, ...step }) => ({ ...step, wallMs: 0, trainMs: 0, rolloutMs: 0 })),
    evaluations: evaluations.map(each => ({ ...each, wallMs: 0 })),
  }
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}
