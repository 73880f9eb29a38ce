import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { z } from 'zod'
import * as wire from './wire.ts'

/** What a request meets in the place of an answer. */
export type Fault =
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Read whole, and never answered. */
  | { readonly type: 'silence' }
  /** The connection is reset when the request has come. */
  | { readonly type: 'reset' }
  /** Answered, but later. */
  | { readonly type: 'slow'; readonly ms: number }

export type Route =
  | 'job-enter'
  | 'trace-enter'
  | 'trace-exit'
  | 'upload'
  | 'by-name'
  | 'taskset'
  | 'export'
  | 'tasks-upload'
  | 'me'

/** All that came for one trace, in its order. */
export interface Trace {
  readonly id: string
  readonly enters: wire.TraceEnter[]
  readonly exits: wire.TraceExit[]
  readonly spans: wire.WireSpan[]
  /** Spans of each upload. */
  readonly uploads: number[]
}

export interface PlatformServer {
  readonly url: string
  /** For a child process or an `env`: the key, and every address of the platform here. */
  readonly variables: Readonly<Record<string, string>>
  readonly key: string
  /** Requests that a strict server would refuse, in words. */
  readonly problems: readonly string[]
  readonly requests: readonly { readonly route: Route | 'unknown'; readonly bytes: number; readonly text: string }[]
  readonly jobs: ReadonlyMap<string, readonly wire.JobEnter[]>
  readonly traces: ReadonlyMap<string, Trace>
  count(route: Route): number
  /** From now on; undefined: none. */
  meet(fault: ((route: Route, nth: number) => Fault | undefined) | undefined): void
  /** A taskset that is there, with rows as `tasks/upload` takes them. */
  addTaskset(name: string, tasks: readonly wire.WireTask[], options?: { readonly canEdit?: boolean }): string
  taskset(name: string): readonly wire.WireTask[] | undefined
  close(): Promise<void>
}

interface StoredTaskset {
  readonly id: string
  readonly name: string
  readonly canEdit: boolean
  readonly tasks: Map<string, wire.WireTask>
}

class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const ROUTES: readonly (readonly [Route, string, RegExp])[] = [
  ['job-enter', 'POST', /^\/v2\/trace\/job\/([^/]+)\/enter$/],
  ['trace-enter', 'POST', /^\/v2\/trace\/([^/]+)\/enter$/],
  ['trace-exit', 'POST', /^\/v2\/trace\/([^/]+)\/exit$/],
  ['upload', 'POST', /^\/v3\/api\/trace\/([^/]+)\/telemetry-upload$/],
  ['by-name', 'GET', /^\/v2\/tasksets\/by-name\/([^/]+)$/],
  ['export', 'GET', /^\/v2\/tasksets\/([^/]+)\/export$/],
  ['taskset', 'GET', /^\/v2\/tasksets\/([^/]+)$/],
  ['tasks-upload', 'POST', /^\/v2\/tasks\/upload$/],
  ['me', 'GET', /^\/v2\/auth\/me$/],
]

/** HUD's platform on loopback: the routes that reports and tasksets use, with one key, strict about every body. */
export async function startPlatformServer(key = 'key-of-the-platform-test'): Promise<PlatformServer> {
  const problems: string[] = []
  const requests: { route: Route | 'unknown'; bytes: number; text: string }[] = []
  const jobs = new Map<string, wire.JobEnter[]>()
  const traces = new Map<string, Trace>()
  const tasksets = new Map<string, StoredTaskset>()
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  let faultFor: Parameters<PlatformServer['meet']>[0]

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://platform')
    const [route, id] = findRoute(request.method ?? '', pathname)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    requests.push({ route, bytes: Buffer.byteLength(text), text })
    if (route === 'unknown') return refuse(404, `no route ${request.method} ${pathname}`)
    const fault = faultFor?.(route, requests.filter(each => each.route === route).length)
    if (fault?.type === 'silence') return
    if (fault?.type === 'reset') return void request.socket.resetAndDestroy()
    if (fault?.type === 'status')
      return void response.writeHead(fault.status, fault.headers).end('{"detail":"a fault"}')
    if (request.headers.authorization !== `Bearer ${key}`) throw new Refusal(401, 'invalid API key')
    const reply = JSON.stringify(act(route, id, text))
    const send = () => void response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    if (fault?.type === 'slow') timers.add(setTimeout(send, fault.ms))
    else send()
  }

  function act(route: Route, id: string, text: string): unknown {
    switch (route) {
      case 'job-enter':
        jobs.set(hex(id), [...(jobs.get(hex(id)) ?? []), parse(wire.jobEnter, text)])
        return {}
      case 'trace-enter': {
        const body = parse(wire.traceEnter, text)
        if (!jobs.has(hex(body.job_id))) refuse(404, `there is no job ${body.job_id}`)
        const trace = traces.get(hex(id)) ?? { id: hex(id), enters: [], exits: [], spans: [], uploads: [] }
        trace.enters.push(body)
        traces.set(hex(id), trace)
        return {}
      }
      case 'trace-exit':
        traceOf(id).exits.push(parse(wire.traceExit, text))
        return {}
      case 'upload': {
        const { telemetry } = parse(wire.upload, text)
        for (const span of telemetry)
          if (span.trace_id !== hex(id) || hex(span.attributes['hud.task_run_id']) !== hex(id))
            refuse(422, `a span of ${span.trace_id} was sent for ${id}`)
        traceOf(id).spans.push(...telemetry)
        traceOf(id).uploads.push(telemetry.length)
        return {}
      }
      case 'by-name': {
        const found = [...tasksets.values()].find(({ name }) => name === decodeURIComponent(id))
        return found === undefined ? missing(`no taskset named ${id}`) : { taskset_id: found.id, name: found.name }
      }
      case 'taskset': {
        const { name, canEdit } = tasksetOf(id)
        return { id, name, project_id: null, can_edit: canEdit }
      }
      case 'export': {
        const { name, tasks } = tasksetOf(id)
        return { name, tasks: [...tasks.values()].map(toExported) }
      }
      case 'tasks-upload':
        return takeTasks(parse(wire.tasksUpload, text))
      case 'me':
        return { user_id: '00000000-0000-4000-8000-000000000001', team_id: '00000000-0000-4000-8000-000000000002' }
    }
  }

  function takeTasks({ taskset_name: name, taskset_id: id, tasks }: z.infer<typeof wire.tasksUpload>): unknown {
    const known = id === undefined ? [...tasksets.values()].find(each => each.name === name) : tasksetOf(id)
    const taskset = known ?? tasksetOf(addTaskset(name, []))
    if (!taskset.canEdit) throw new Refusal(403, 'you may not change this taskset')
    const created = tasks.filter(task => !taskset.tasks.has(task.name)).length
    for (const task of tasks) taskset.tasks.set(task.name, task)
    return { taskset_id: taskset.id, tasks_created: created, tasks_updated: tasks.length - created }
  }

  function addTaskset(name: string, tasks: readonly wire.WireTask[], { canEdit = true } = {}): string {
    const id = randomUUID()
    tasksets.set(id, { id, name, canEdit, tasks: new Map(tasks.map(task => [task.name, task])) })
    return id
  }

  function parse<Body>(schema: z.ZodType<Body>, text: string): Body {
    const parsed = schema.safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    return refuse(422, parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  }

  /** What no client of this platform should ask. */
  function refuse(status: number, problem: string): never {
    problems.push(problem)
    throw new Refusal(status, problem)
  }

  /** What is asked in good faith, and is not there. */
  function missing(what: string): never {
    throw new Refusal(404, what)
  }

  const traceOf = (id: string): Trace => traces.get(hex(id)) ?? refuse(404, `there is no trace ${id}`)
  const tasksetOf = (id: string): StoredTaskset => tasksets.get(id) ?? missing(`no taskset ${id}`)

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const status = error instanceof Refusal ? error.status : 500
      if (!(error instanceof Refusal) && !request.destroyed) problems.push(String(error))
      if (!response.headersSent && !response.destroyed)
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ detail: error instanceof Error ? error.message : String(error) }))
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    key,
    variables: {
      HUD_API_KEY: key,
      HUD_API_URL: url,
      HUD_TELEMETRY_URL: `${url}/v3/api`,
      HUD_WEB_URL: url,
      HUD_TELEMETRY_ENABLED: 'true',
    },
    problems,
    requests,
    jobs,
    traces,
    count: route => requests.filter(each => each.route === route).length,
    meet(fault) {
      faultFor = fault
    },
    addTaskset,
    taskset(name) {
      const found = [...tasksets.values()].find(each => each.name === name)
      return found === undefined ? undefined : [...found.tasks.values()]
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function findRoute(method: string, path: string): readonly [Route | 'unknown', string] {
  for (const [route, of, pattern] of ROUTES) {
    const found = of === method ? pattern.exec(path) : null
    if (found !== null) return [route, found[1] ?? '']
  }
  return ['unknown', '']
}

/** The platform takes its ids with dashes and without. */
function hex(id: string): string {
  return id.replaceAll('-', '')
}

/** What was uploaded, in the words of the export: the template is called scenario there, and every field is set. */
function toExported({ name, env, task_id, verifier, ...rest }: wire.WireTask): unknown {
  const unset = { validation: null, agent_config: null, columns: null, runtime_config: null }
  return {
    id: randomUUID(),
    name,
    env: env.name,
    scenario: task_id,
    ...unset,
    args: {},
    ...rest,
    verifier: verifier ?? null,
  }
}
