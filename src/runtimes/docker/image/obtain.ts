import type Docker from 'dockerode'
import { toErrorData } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import { type Engine, ifThere } from '../engine/engine.ts'
import { readProgress } from '../engine/progress.ts'
import { buildFailed, imageLine, noCommand, pullFailed } from '../errors.ts'
import type { DockerSettings, ImageSource } from '../settings.ts'
import { readContext } from './context.ts'

/** What containers are made from. */
export interface ReadyImage {
  /** What it is told by from all others, whatever its name comes to mean meanwhile. */
  readonly id: string
  readonly name: string
}

/** Downloads and builds are slow, and somebody waits. */
const OBTAIN_MS = 30 * 60_000
const KEPT_LINES = 60
const LONGEST_LINE = 2_000

/**
 * The image, found, pulled or built. Rejects with `docker-pull-failed`, `docker-build-failed`, `dockerfile-missing`, `dockerfile-invalid`, `docker-no-command`, as
 * calls to the engine do, or with the signal's reason.
 */
export async function obtainImage(
  engine: Engine,
  { source, command, onImageLog }: Pick<DockerSettings, 'source' | 'command' | 'onImageLog'>,
  signal: AbortSignal,
): Promise<ReadyImage> {
  const log = makeLog(onImageLog ?? (line => publish('sandbox', imageLine(source.name, line))))
  const name = source.kind === 'dockerfile' ? await build(engine, source, log, signal) : source.name
  const found = (await look(engine, name, signal)) ?? (await pull(engine, name, log, signal))
  const { Cmd, Entrypoint } = found.Config
  if (command === undefined && isEmpty(Cmd) && isEmpty(Entrypoint)) throw noCommand(source.name)
  return { id: found.Id, name: source.name }
}

function look(engine: Engine, name: string, signal: AbortSignal): Promise<Docker.ImageInspectInfo | undefined> {
  return ifThere(engine.ask(`look at the image ${name}`, () => engine.docker.getImage(name).inspect(), { signal }))
}

async function pull(engine: Engine, name: string, log: Log, signal: AbortSignal): Promise<Docker.ImageInspectInfo> {
  const failed = await engine
    .ask(
      `pull the image ${name}`,
      async abortSignal => {
        const stream = await engine.docker.pull(name, { abortSignal })
        return (await follow(stream, log)).error
      },
      { signal, deadlineMs: OBTAIN_MS },
    )
    .catch(toAnswer)
  if (failed !== undefined) throw pullFailed(name, failed)
  const found = await look(engine, name, signal)
  if (found === undefined) throw pullFailed(name, 'it was pulled, and is not there')
  return found
}

/** What the engine's own cache has is not built again. Answers the image's id, or its name where the engine does not tell. */
async function build(
  engine: Engine,
  source: Extract<ImageSource, { kind: 'dockerfile' }>,
  log: Log,
  signal: AbortSignal,
): Promise<string> {
  const context = await readContext(source)
  const { error, imageId } = await engine
    .ask(
      `build the image ${source.name}`,
      async abortSignal => {
        const stream = await engine.docker.buildImage(context.pack(), {
          t: source.name,
          dockerfile: source.inContext,
          labels: { 'troupe.built': 'true' },
          rm: true,
          forcerm: true,
          abortSignal,
        })
        return await follow(stream, log)
      },
      { signal, deadlineMs: OBTAIN_MS },
    )
    .catch((thrown: unknown) => ({ error: toAnswer(thrown), imageId: undefined }))
  if (error !== undefined) throw buildFailed(source.path, error, log.last())
  return imageId ?? source.name
}

/** What the engine answered is about the image. Rethrows what is no answer: that it is gone, or that nobody wants the image any more. */
function toAnswer(thrown: unknown): string {
  const said = toErrorData(thrown).details?.said
  if (typeof said !== 'string') throw thrown
  return said
}

async function follow(stream: AsyncIterable<string | Buffer>, log: Log) {
  let error: string | undefined
  let imageId: string | undefined
  for await (const message of readProgress(stream)) {
    log.add(message.text)
    error ??= message.error
    imageId = message.imageId ?? imageId
  }
  return { error, imageId }
}

interface Log {
  /** Any text; told line by line. */
  add(text: string): void
  last(): readonly string[]
}

function makeLog(onLine: (line: string) => void): Log {
  const kept: string[] = []
  return {
    add(text) {
      for (const line of text.split('\n').map(each => each.trimEnd().slice(0, LONGEST_LINE))) {
        if (line === '') continue
        kept.push(line)
        if (kept.length > KEPT_LINES) kept.shift()
        onLine(line)
      }
    },
    last: () => kept,
  }
}

const isEmpty = (words: string | readonly string[] | null | undefined): boolean =>
  words === undefined || words === null || words.length === 0
