import { type Cli, type Scene, until, withScene } from '../../end-to-end/scene.ts'
import { type Nats, type NatsOptions, startNats } from './nats.ts'

/** A scene, and a server outside of it: what the scene has left is not the server's. */
export async function withCluster(
  body: (scene: Scene, url: string, nats: Nats) => Promise<void>,
  options?: NatsOptions,
): Promise<void> {
  await using nats = await startNats(options)
  await withScene(scene => body(scene, nats.urls.join(','), nats))
}

/** `troupe worker` in the scene. Resolves when it has connected. */
export async function startWorker(scene: Scene, url: string, ...more: string[]): Promise<Cli> {
  return startWorkerWith(scene, url, {}, ...more)
}

/** The same with environment variables, as those of a provider's account. */
export async function startWorkerWith(
  scene: Scene,
  url: string,
  variables: Readonly<Record<string, string>>,
  ...more: string[]
): Promise<Cli> {
  const worker = scene.start(['worker', '--nats', url, '--threads', '1', ...more], variables)
  await until(
    () => worker.stderr().includes('works for whoever asks'),
    () => `a worker that has connected: ${worker.stderr()}`,
  )
  return worker
}

/** Ends it in order, and tells how it ended. */
export async function drain(worker: Cli): Promise<number | NodeJS.Signals | null> {
  worker.child.kill('SIGTERM')
  return worker.ended
}

/** `eval` of the scene's notes; without what is said of one machine. */
export function evalNotes(scene: Scene, config: Readonly<Record<string, unknown>>, ...more: string[]): string[] {
  const argv = scene.notes(config, '--seed', '1', ...more)
  const threads = argv.indexOf('--threads')
  return [...argv.slice(0, threads), ...argv.slice(threads + 2)]
}
