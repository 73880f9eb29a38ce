import { type ErrorData, toErrorData } from '../../errors.ts'
import { removeContainer } from './container/remove.ts'
import type { Engine } from './engine/engine.ts'
import { fromEngineLabels, judgeLabels, OWNER_LABEL } from './labels.ts'

/** A container that nobody alive needs. */
export interface LeftContainer {
  /** The engine's. */
  readonly id: string
  readonly name: string
  readonly image: string
  /** `running`, `exited`, `created`, … */
  readonly state: string
  /** `toOwnerWord()` of the process that left it. */
  readonly owner: string
  readonly job?: string
  /** `dead`: its process is gone. `expired`: it is on another machine and its time has passed. `named`: it is elsewhere, and whoever asks says that it is dead. */
  readonly standing: 'dead' | 'expired' | 'named'
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface FindOptions {
  /** Only what is older, in milliseconds. Default: any age. */
  readonly olderThanMs?: number
  /** Only what these have left, and those that cannot be seen from here count as dead: owners in a word, or the hosts they were on. */
  readonly owners?: readonly string[]
  readonly hosts?: readonly string[]
  /** Only what is of this job. */
  readonly job?: string | undefined
}

/** One that would not go. */
export interface Failure {
  readonly leftover: LeftContainer
  readonly problem: ErrorData
}

/** Removals at once: an engine does not get faster with more. */
const WIDTH = 8

/**
 * Containers with our labels whose owners are dead. Whoever is seen to be alive is spared, even if named, and so is what has no label of ours. Changes nothing;
 * rejects as calls to the engine do.
 */
export async function findLeftovers(engine: Engine, options: FindOptions = {}): Promise<readonly LeftContainer[]> {
  const { olderThanMs = 0 } = options
  const filters = { label: [OWNER_LABEL] }
  const found = await engine.ask('list its containers', abortSignal =>
    engine.docker.listContainers({ all: true, filters, abortSignal }),
  )
  const now = engine.clock.wallTime()
  return found.flatMap(({ Id, Names, Image, State, Created, Labels }) => {
    const labels = fromEngineLabels(Labels)
    const standing = judge(labels, options, now)
    const createdAt = Created * 1_000
    if (standing === undefined || now - createdAt < olderThanMs) return []
    const { owner = '', job } = labels
    const name = Names[0]?.replace(/^\//, '') ?? Id
    return [
      { id: Id, name, image: Image, state: State, owner, ...(job === undefined ? {} : { job }), standing, createdAt },
    ]
  })
}

/** Removes them and sees that they are gone. One that fails stops no other; answers those that would not go. */
export async function removeLeftovers(
  engine: Engine,
  leftovers: readonly LeftContainer[],
  onEach: (leftover: LeftContainer, problem: ErrorData | undefined) => void = () => {},
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  const rest = leftovers.values()
  async function work(): Promise<void> {
    for (const leftover of rest) {
      const problem = await removeContainer(engine, { ...leftover, labels: {} }).then(() => undefined, toErrorData)
      if (problem !== undefined) failures.push({ leftover, problem })
      onEach(leftover, problem)
    }
  }
  await Promise.all(Array.from({ length: Math.min(WIDTH, leftovers.length) }, work))
  return failures
}

export const toHost = (owner: string): string => owner.split('~')[0] ?? owner

function judge(
  labels: Readonly<Record<string, string>>,
  { owners = [], hosts = [], job: asked }: FindOptions,
  now: number,
): LeftContainer['standing'] | undefined {
  const { owner } = labels
  if (owner === undefined || (asked !== undefined && labels.job !== asked)) return undefined
  const named = owners.includes(owner) || hosts.includes(toHost(owner))
  if (!named && owners.length + hosts.length > 0) return undefined
  const verdict = judgeLabels(labels, now)
  if (verdict === 'alive') return undefined
  if (verdict === 'elsewhere') return named ? 'named' : undefined
  return verdict
}
