import { sleep } from '../../../clock.ts'
import { hasTag, TroupeError } from '../../../errors.ts'
import { type Engine, ifThere } from '../engine/engine.ts'
import { notRemoved } from '../errors.ts'

export interface Removal {
  readonly name: string
  /** The engine's id, where its create was answered. */
  readonly id: string | undefined
  /** Labels that tell ours from another of the same name. Looked at where there is no id. */
  readonly labels: Readonly<Record<string, string>>
}

const DEADLINE_MS = 30_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000

/**
 * Kills and removes a container with its anonymous volumes. Resolves when there is none of it; what may pass is tried again, within half a minute. Rejects with
 * `docker-not-removed` when it may still exist.
 */
export async function removeContainer(engine: Engine, removal: Removal, deadlineMs = DEADLINE_MS): Promise<void> {
  const { clock } = engine
  const until = clock.now() + deadlineMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await removeOnce(engine, removal)
    } catch (error) {
      if (!isWorthAnother(error) || clock.now() + pauseMs >= until) throw notRemoved(removal.name, error)
    }
    await sleep(clock, pauseMs)
  }
}

async function removeOnce(engine: Engine, removal: Removal): Promise<void> {
  const id = removal.id ?? (await findOurs(engine, removal))
  if (id === undefined) return
  const container = engine.docker.getContainer(id)
  await ifThere(
    engine.ask(`remove the container ${removal.name}`, abortSignal =>
      container.remove({ force: true, v: true, abortSignal }),
    ),
  )
}

async function findOurs({ ask, docker }: Engine, { name, labels }: Removal): Promise<string | undefined> {
  const found = await ifThere(
    ask(`look for the container ${name}`, abortSignal => docker.getContainer(name).inspect({ abortSignal })),
  )
  const isOurs = Object.entries(labels).every(([label, value]) => found?.Config.Labels[label] === value)
  return isOurs ? found?.Id : undefined
}

/** A conflict: it is being removed already, which the next try sees the end of. */
function isWorthAnother(error: unknown): boolean {
  return error instanceof TroupeError && (error.data.transient === true || hasTag(error, 'docker-conflict'))
}
