import { connect, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ServedEnvironment, ServedSession } from '../../../src/environment/served.ts'
import { TroupeError } from '../../../src/errors.ts'
import type { Binding } from '../../../src/wire/binding.ts'

export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function makeGate(): Gate {
  let open: () => void = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

/** An environment without a workspace, whose tasks do what a test needs, and which writes down what was done to it. */
export interface FixtureEnvironment extends ServedEnvironment {
  /** `open ID`, `start ID TASK`, `grade ID`, `cancel ID`, `close ID`. */
  readonly events: string[]
  /** What the task `slow` waits for, when it starts and when it is graded. */
  startGate: Gate
  gradeGate: Gate
  readonly daemonPort: number
}

const TASKS = ['echo', 'slow', 'throws', 'grade-throws', 'big'] as const
const EMPTY: readonly Binding[] = []

/** A daemon on loopback stands behind the capability `echo`: it returns what it is sent, and ends when its input has. */
export async function makeFixture(bindings: readonly Binding[] = EMPTY): Promise<FixtureEnvironment> {
  const events: string[] = []
  const sockets = new Set<Socket>()
  const daemon = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  await new Promise<void>(resolve => daemon.listen(0, '127.0.0.1', resolve))
  const bound = daemon.address()
  const daemonPort = typeof bound === 'object' && bound !== null ? bound.port : 0
  const environment: FixtureEnvironment = {
    name: 'fixture',
    version: '1.2.3',
    events,
    daemonPort,
    startGate: makeGate(),
    gradeGate: makeGate(),
    tasks: () => TASKS.map(id => ({ id, description: `the task ${id}` })),
    checkTask(id, args) {
      if (!TASKS.some(task => task === id)) return [`unknown task: '${id}'`]
      const known = ['value', 'size']
      return Object.keys(args)
        .filter(key => !known.includes(key))
        .map(key => `unexpected argument '${key}'`)
    },
    openSession: async id => makeSession(id, environment, bindings),
    async connectCapability(name) {
      if (name === 'broken') throw new Error('the daemon does not answer')
      if (name !== 'echo') throw new TroupeError({ tag: 'unknown-capability', message: `no capability '${name}'` })
      return await dialDaemon(daemonPort)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => daemon.close(resolve))
    },
  }
  return environment
}

function makeSession(id: string, environment: FixtureEnvironment, bindings: readonly Binding[]): ServedSession {
  const { events } = environment
  let task: { readonly id: string; readonly args: Readonly<Record<string, unknown>> } | undefined
  events.push(`open ${id}`)
  return {
    bindings,
    get hasTask() {
      return task !== undefined
    },
    async start(taskId, args, signal) {
      task = undefined
      events.push(`start ${id} ${taskId}`)
      if (taskId === 'throws') throw new Error('the template is broken')
      if (taskId === 'slow') await orAborted(environment.startGate.opened, signal)
      task = { id: taskId, args }
      const prompt = taskId === 'big' ? 'x'.repeat(Number(args.size)) : `do ${String(args.value)}`
      return { prompt, extra: args.value ?? null }
    },
    async grade(params, signal) {
      const graded = task
      task = undefined
      events.push(`grade ${id}`)
      if (graded?.id === 'grade-throws') throw new Error('the grader is broken')
      if (graded?.id === 'slow') await orAborted(environment.gradeGate.opened, signal)
      return { score: params.answer === graded?.args.value ? 1 : 0, content: 'graded' }
    },
    async cancel() {
      if (task !== undefined) events.push(`cancel ${id}`)
      task = undefined
    },
    async close() {
      task = undefined
      events.push(`close ${id}`)
    },
  }
}

function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    promise.then(resolve)
  })
}

function dialDaemon(port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket.off('error', reject)))
  })
}
