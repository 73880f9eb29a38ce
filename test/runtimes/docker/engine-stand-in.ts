/**
 * Stands in for a Docker engine: its HTTP routes over a Unix socket in a temporary directory, as far as the runtime asks for them. Containers are processes of this
 * machine, behind a port of 127.0.0.1 that is chosen here.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CreateBody,
  inspectContainer,
  listContainer,
  makeContainer,
  type StandInContainer,
  startContainer,
  toFrame,
} from './stand-in-containers.ts'
import { build, imageOf, type StandInImage } from './stand-in-images.ts'
import { makePrograms } from './stand-in-process.ts'

/** What goes wrong with requests whose method and path match. */
export interface Fault {
  readonly on: RegExp
  /** How often. Default: once. */
  readonly times?: number
  /** The answer instead; `cut` breaks the connection before anything is done, `cut-after` when it has been done, `mute` never answers. */
  readonly answer: { readonly status: number; readonly message: string } | 'cut' | 'cut-after' | 'mute'
}

export interface StandIn {
  /** As DOCKER_HOST has it. */
  readonly host: string
  /** By name, `latest` where a tag is left out. */
  readonly images: Map<string, StandInImage>
  /** What a registry has. */
  readonly registry: Map<string, StandInImage>
  readonly containers: Map<string, StandInContainer>
  /** `METHOD /path?query`, in order. */
  readonly requests: readonly string[]
  /** Files of the last build. */
  readonly sent: () => readonly string[]
  readonly version: Record<string, unknown>
  fault(fault: Fault): void
  /** Told of each container that is asked for, from now on. */
  onCreate(told: (body: CreateBody) => void): void
  /** Goes away: connections are cut, and nobody listens. Containers run on. */
  stop(): Promise<void>
  restart(): Promise<void>
  /** Ends everything, and removes its files. */
  close(): Promise<void>
}

export async function startStandIn(environmentPath: string): Promise<StandIn> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-test-engine-'))
  const socket = join(directory, 'docker.sock')
  const bin = join(directory, 'bin')
  await makePrograms(bin, environmentPath)
  const images = new Map<string, StandInImage>([['environment:latest', imageOf('environment-host')]])
  const registry = new Map<string, StandInImage>()
  const containers = new Map<string, StandInContainer>()
  const version: Record<string, unknown> = { Version: '27.3.1', ApiVersion: '1.47', Os: 'linux', Arch: 'amd64' }
  const requests: string[] = []
  const faults: { fault: Fault; left: number }[] = []
  /** What was asked to be run in containers, which are processes of this machine. */
  const execs = new Map<string, readonly string[]>()
  let told: (body: CreateBody) => void = () => {}
  let builds = 0
  let sent: readonly string[] = []
  const server = createServer((request, response) => void handle(request, response))
  await listen()

  async function listen(): Promise<void> {
    server.listen(socket)
    await once(server, 'listening')
  }

  async function stop(): Promise<void> {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request
    const { pathname, searchParams } = new URL(url, 'http://engine')
    requests.push(`${method} ${url}`)
    const entry = faults.find(({ fault, left }) => left > 0 && fault.on.test(`${method} ${pathname}`))
    const answer = entry?.fault.answer
    if (entry !== undefined) entry.left -= 1
    if (answer === 'mute') return
    if (answer === 'cut') return void request.socket.destroy()
    if (typeof answer === 'object') return refuse(response, answer.status, answer.message)
    try {
      const reply = answer === 'cut-after' ? makeSink(request) : response
      await route(`${method} ${pathname}`, request, reply, searchParams)
    } catch (error) {
      if (!response.headersSent) refuse(response, 500, String(error))
    }
  }

  async function route(
    asked: string,
    request: IncomingMessage,
    response: Reply,
    query: URLSearchParams,
  ): Promise<void> {
    if (asked === 'GET /version') return json(response, 200, version)
    if (asked === 'POST /build') {
      const built = await build(request, join(directory, `build-${builds++}`), query)
      sent = built.sent
      response.writeHead(200, { 'content-type': 'application/json' })
      for (const line of built.lines) response.write(`${JSON.stringify({ stream: `${line}\n` })}\n`)
      if ('error' in built.result) return void response.end(`${JSON.stringify({ error: built.result.error })}\n`)
      images.set(query.get('t') ?? '', built.result)
      return void response.end(`${JSON.stringify({ aux: { ID: built.result.id } })}\n`)
    }
    if (asked === 'POST /images/create') {
      const name = `${query.get('fromImage')}:${query.get('tag')}`
      const found = registry.get(name)
      if (found === undefined) return refuse(response, 404, `pull access denied for ${name}, repository does not exist`)
      images.set(name, found)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`${JSON.stringify({ status: 'Pulling from library', id: 'latest' })}\n`)
      response.write(
        `${JSON.stringify({ status: 'Downloading', id: 'layer', progress: '[=>   ]', progressDetail: {} })}\n`,
      )
      return void response.end(`${JSON.stringify({ status: `Downloaded ${name}` })}\n`)
    }
    const image = /^GET \/images\/(.+)\/json$/.exec(asked)?.[1]
    if (image !== undefined) {
      const found = findImage(decodeURIComponent(image))
      if (found === undefined) return refuse(response, 404, `No such image: ${image}`)
      return json(response, 200, { Id: found.id, Config: { Cmd: found.cmd, Entrypoint: found.entrypoint } })
    }
    if (asked === 'POST /containers/create') return create(await readJson(request), response, query.get('name') ?? '')
    if (asked === 'GET /containers/json') {
      const { label = [] } = JSON.parse(query.get('filters') ?? '{}')
      const found = [...containers.values()].filter(({ body }) => label.every((each: string) => hasLabel(body, each)))
      const isAll = query.get('all') === 'true'
      return json(response, 200, found.filter(({ state }) => isAll || state === 'running').map(listContainer))
    }
    const exec = /^POST \/exec\/(.+)\/start$/.exec(asked)?.[1]
    if (exec !== undefined) return runExec(exec, response)
    return await routeOne(asked, request, response, query)
  }

  function runExec(id: string, response: Reply): void {
    const [program = 'true', ...words] = execs.get(id) ?? []
    response.writeHead(200, { 'content-type': 'application/vnd.docker.multiplexed-stream' })
    const { stdout } = spawnSync(program, words)
    response.write(toFrame(1, stdout ?? Buffer.alloc(0)))
    response.end()
  }

  function create(body: CreateBody, response: Reply, name: string): void {
    told(body)
    const image = findImage(body.Image)
    const isTaken = findContainer(name) !== undefined
    if (image === undefined || isTaken) {
      if (isTaken) refuse(response, 409, `Conflict. The container name "/${name}" is already in use`)
      else refuse(response, 404, `No such image: ${body.Image}`)
      return
    }
    const made = makeContainer(name, body, image)
    containers.set(made.id, made)
    json(response, 201, { Id: made.id, Warnings: [] })
  }

  async function routeOne(
    asked: string,
    request: IncomingMessage,
    response: Reply,
    query: URLSearchParams,
  ): Promise<void> {
    const [, id = '', what = ''] = /^(?:GET|POST|DELETE) \/containers\/([^/]+)\/?(.*)$/.exec(asked) ?? []
    const found = findContainer(id)
    if (found === undefined) return refuse(response, 404, `No such container: ${id}`)
    if (asked.startsWith('DELETE ')) {
      if (found.state === 'running' && query.get('force') !== 'true')
        return refuse(response, 409, 'You cannot remove a running container')
      await end(found)
      containers.delete(found.id)
      return json(response, 204, undefined)
    }
    switch (what) {
      case 'start':
        await startContainer(found, { directory, bin })
        return json(response, 204, undefined)
      case 'exec': {
        const { Cmd = [] } = await readJson(request)
        execs.set(`exec-${execs.size}`, Cmd)
        return json(response, 201, { Id: `exec-${execs.size - 1}` })
      }
      case 'kill':
        await end(found)
        return json(response, 204, undefined)
      case 'json':
        return json(response, 200, inspectContainer(found))
      case 'logs':
        return follow(found, request, response, query)
      default:
        return refuse(response, 404, 'page not found')
    }
  }

  const findImage = (name: string): StandInImage | undefined =>
    images.get(name) ?? images.get(`${name}:latest`) ?? [...images.values()].find(({ id }) => id === name)

  const findContainer = (text: string): StandInContainer | undefined =>
    containers.get(text) ?? [...containers.values()].find(({ name }) => name === text)

  return {
    host: `unix://${socket}`,
    images,
    registry,
    containers,
    requests,
    version,
    onCreate(tell) {
      told = tell
    },
    sent: () => sent,
    fault: fault => void faults.push({ fault, left: fault.times ?? 1 }),
    stop,
    restart: listen,
    async close() {
      await Promise.all([...containers.values()].map(end))
      if (server.listening) await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Takes an answer, in full or in part. */
interface Reply {
  writeHead(status: number, headers: Record<string, string>): unknown
  write(piece: string | Buffer): unknown
  end(last?: string): unknown
}

async function end({ process: running }: StandInContainer): Promise<void> {
  running?.kill()
  await running?.exited
}

function follow(container: StandInContainer, request: IncomingMessage, response: Reply, query: URLSearchParams): void {
  response.writeHead(200, { 'content-type': 'application/vnd.docker.multiplexed-stream' })
  if (query.get('tail') !== '0') for (const frame of container.frames) response.write(frame)
  if (query.get('follow') !== 'true' || container.state === 'exited') return void response.end()
  const told = (frame: Buffer | undefined) => void (frame === undefined ? response.end() : response.write(frame))
  container.followers.add(told)
  request.socket.on('close', () => container.followers.delete(told))
}

function hasLabel({ Labels = {} }: CreateBody, wanted: string): boolean {
  const [name = '', value] = wanted.split('=', 2)
  return value === undefined ? name in Labels : Labels[name] === value
}

/** Where an answer goes that never arrives. */
function makeSink(request: IncomingMessage): Reply {
  return { writeHead: () => undefined, write: () => true, end: () => request.socket.destroy() }
}

function json(response: Reply, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

const refuse = (response: Reply, status: number, message: string): void => json(response, status, { message })

async function readJson(request: IncomingMessage): Promise<CreateBody> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}
