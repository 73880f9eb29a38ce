import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StandInImage } from './stand-in-images.ts'
import { type ContainerProcess, startProcess } from './stand-in-process.ts'

/** The body of a create, as far as it matters here. */
export interface CreateBody {
  readonly Image: string
  readonly Labels?: Readonly<Record<string, string>>
  readonly Env?: readonly string[]
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly HostConfig?: {
    readonly PortBindings?: Readonly<Record<string, readonly { readonly HostIp: string; readonly HostPort: string }[]>>
    readonly NetworkMode?: string
    readonly [name: string]: unknown
  }
}

export interface StandInContainer {
  readonly id: string
  readonly name: string
  readonly body: CreateBody
  readonly image: StandInImage
  readonly createdAt: number
  state: 'created' | 'running' | 'exited'
  exitCode: number
  oomKilled: boolean
  process: ContainerProcess | undefined
  /** What it wrote, as frames of the log stream. */
  readonly frames: Buffer[]
  /** Those who follow the log: told each frame, and undefined at the end. */
  readonly followers: Set<(frame: Buffer | undefined) => void>
}

export function makeContainer(name: string, body: CreateBody, image: StandInImage): StandInContainer {
  return {
    id: randomBytes(32).toString('hex'),
    name,
    body,
    image,
    createdAt: Date.now(),
    state: 'created',
    exitCode: 0,
    oomKilled: false,
    process: undefined,
    frames: [],
    followers: new Set(),
  }
}

/** Networks of these names publish no ports, as internal ones do not. */
const INTERNAL = 'internal'

export async function startContainer(
  container: StandInContainer,
  place: { readonly directory: string; readonly bin: string },
): Promise<void> {
  const { body, image } = container
  const directory = join(place.directory, container.id.slice(0, 12))
  await mkdir(directory, { recursive: true })
  const argv =
    body.Entrypoint === undefined
      ? [...image.entrypoint, ...(body.Cmd ?? image.cmd)]
      : [...body.Entrypoint, ...(body.Cmd ?? [])]
  const started = await startProcess({
    directory,
    root: image.root ?? directory,
    bin: place.bin,
    argv,
    env: body.Env ?? [],
    onOutput: (stream, text) => {
      const frame = toFrame(stream, text)
      container.frames.push(frame)
      for (const follow of container.followers) follow(frame)
    },
  })
  container.process = started
  container.state = 'running'
  void started.exited.then(code => {
    container.exitCode = code
    container.state = 'exited'
    for (const follow of container.followers) follow(undefined)
  })
}

/** A piece of a container's output, as the engine sends it. */
export function toFrame(stream: 1 | 2, text: Buffer): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(text.length, 4)
  return Buffer.concat([header, text])
}

export function inspectContainer(container: StandInContainer): object {
  const { body, exitCode, id, image, name, oomKilled, process: running, state } = container
  const isRunning = state === 'running'
  const bindings = body.HostConfig?.PortBindings ?? {}
  const published = isRunning && body.HostConfig?.NetworkMode !== INTERNAL
  return {
    Id: id,
    Name: `/${name}`,
    Image: image.id,
    State: {
      Status: state,
      Running: isRunning,
      ExitCode: exitCode,
      OOMKilled: oomKilled,
      Error: '',
      Pid: isRunning ? running?.pid : 0,
    },
    Config: { Labels: body.Labels ?? {}, Image: body.Image, Env: body.Env ?? [] },
    HostConfig: body.HostConfig ?? {},
    NetworkSettings: {
      Ports: published
        ? Object.fromEntries(
            Object.entries(bindings).map(([port, [binding]]) => [
              port,
              [{ HostIp: binding?.HostIp, HostPort: String(running?.hostPort) }],
            ]),
          )
        : {},
    },
  }
}

export function listContainer({ body, createdAt, id, image, name, state }: StandInContainer): object {
  return {
    Id: id,
    Names: [`/${name}`],
    Image: body.Image,
    ImageID: image.id,
    State: state,
    Created: Math.floor(createdAt / 1_000),
    Labels: body.Labels ?? {},
  }
}
