import type { Duplex } from 'node:stream'
import { settleWithin } from '../bounded.ts'
import type { Clock } from '../clock.ts'
import { hasTag, type TroupeError } from '../errors.ts'
import type { Binding } from './binding.ts'
import type { Connection, ConnectionUser, Lost } from './connection.ts'
import { badReply, parkUnsupported, sessionLost } from './errors.ts'
import { METHOD, withTraceparent } from './extension.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { Welcome } from './hello.ts'
import { isObject, type JsonObject } from './json-rpc.ts'
import type { ControlSession, GradeFrame, PromptFrame, TaskManifest } from './session.ts'
import { openTunnel } from './tunnel.ts'

const CANCEL_MS = 2_000
const END_MS = 5_000

/** One session over a connection of its own or a shared one: the difference is how it takes its leave. */
export class RemoteSession implements ControlSession, ConnectionUser {
  readonly sessionId: string
  readonly env: Welcome['env']
  readonly bindings: readonly Binding[]
  readonly multiplexed: boolean
  readonly #connection: Connection
  readonly #channel: number
  readonly #clock: Clock
  readonly #onDone: () => void
  readonly #stopHeartbeat: () => void
  /** The call under way, kept until its reply is there even when its caller has gone: peers refuse a second one meanwhile. */
  #running: Promise<unknown> | undefined
  #hasTask = false
  #traceparent: string | undefined
  readonly #calls = new Set<(error: TroupeError) => void>()
  #lost: Lost | undefined

  /** `onDone` is called once, when the session is over for this end. */
  constructor(
    connection: Connection,
    channel: number,
    welcome: Welcome,
    options: { clock: Clock; heartbeatMs: number; resumed: boolean; onDone: () => void },
  ) {
    this.#connection = connection
    this.#channel = channel
    this.#clock = options.clock
    this.#onDone = options.onDone
    this.#hasTask = options.resumed
    this.sessionId = welcome.sessionId
    this.env = welcome.env
    this.bindings = welcome.bindings
    this.multiplexed = connection.grant?.multiplex === true
    // A shared connection has one heartbeat of its own for all.
    this.#stopHeartbeat = this.multiplexed ? nothing : this.#startHeartbeat(options.heartbeatMs)
    connection.attach(channel, this)
    if (connection.lost !== undefined) this.onLost(connection.lost)
  }

  carry(traceparent: string): void {
    if (this.#connection.grant?.traces === true) this.#traceparent = traceparent
  }

  async listTasks(signal?: AbortSignal): Promise<readonly TaskManifest[]> {
    const { tasks } = await this.#call(METHOD.list, {}, signal)
    if (!Array.isArray(tasks)) throw badReply(this.#connection.address, METHOD.list, 'without a list of tasks')
    return tasks.filter(isManifest)
  }

  async startTask(id: string, args: JsonObject, signal?: AbortSignal): Promise<PromptFrame> {
    const frame = await this.#call(METHOD.start, withTraceparent({ id, args }, this.#traceparent), signal)
    this.#hasTask = true
    if (!hasPrompt(frame)) throw badReply(this.#connection.address, METHOD.start, 'without a prompt')
    return frame
  }

  async grade(answer: unknown, signal?: AbortSignal): Promise<GradeFrame> {
    this.#hasTask = false
    const params = withTraceparent({ answer: answer ?? null }, this.#traceparent)
    const frame = await this.#call(METHOD.grade, params, signal)
    if (!hasScore(frame)) throw badReply(this.#connection.address, METHOD.grade, 'without a numeric score')
    return frame
  }

  async cancelTask(): Promise<void> {
    this.#throwIfLost()
    this.#hasTask = false
    await settleWithin(this.#clock, CANCEL_MS, this.#request(METHOD.cancel, {}))
    this.#throwIfLost()
  }

  async park(): Promise<void> {
    if (this.#connection.grant === undefined) {
      this.#throwIfLost()
      if (!this.#hasTask) throw parkUnsupported(this.#connection.address)
      this.abort()
      return
    }
    await this.#call(METHOD.park, {}, undefined)
    this.#finish('it was parked')
  }

  async end(): Promise<boolean> {
    if (this.#lost !== undefined) return false
    const goodbye = await settleWithin(
      this.#clock,
      END_MS,
      this.#request(METHOD.bye, withTraceparent({}, this.#traceparent)),
    )
    if (goodbye?.goodbye !== true) {
      this.abort()
      return false
    }
    this.#finish('it was ended here')
    return true
  }

  openTunnel(capability: string, signal?: AbortSignal): Promise<Duplex> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost())
    return openTunnel(this.#connection.address, capability, { clock: this.#clock, ...(signal && { signal }) })
  }

  abort(): void {
    if (this.#lost !== undefined) return
    const lost = () => sessionLost(this.#connection.address, 'it was cut here')
    if (this.multiplexed) {
      this.#connection.notify(METHOD.hangUp, this.#channel)
      this.#connection.detach(this.#channel)
      this.onLost(lost)
    } else this.#connection.abort(lost())
  }

  onLost(lost: Lost): void {
    if (this.#lost !== undefined) return
    this.#lost = lost
    for (const reject of this.#calls) reject(lost())
    this.#stopHeartbeat()
    this.#onDone()
  }

  #throwIfLost(): void {
    if (this.#lost !== undefined) throw this.#lost()
  }

  #finish(why: string): void {
    if (this.#lost !== undefined) return
    if (this.multiplexed) {
      this.#connection.detach(this.#channel)
      this.onLost(() => sessionLost(this.#connection.address, why))
    } else this.#connection.leave()
  }

  /** One call at a time. An abort lets go of the caller at once; a template that runs for it is cancelled. */
  async #call(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    signal?.throwIfAborted()
    while (this.#running !== undefined) await settled(this.#running)
    signal?.throwIfAborted()
    const reply = this.#request(method, params)
    this.#running = reply
    const free = () => {
      if (this.#running === reply) this.#running = undefined
    }
    reply.then(free, free)
    if (signal === undefined) return reply
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        reject(signal.reason)
        if (method === METHOD.start || method === METHOD.grade) this.cancelTask().catch(nothing)
      }
      signal.addEventListener('abort', onAbort)
      reply.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  #request(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost())
    return new Promise((resolve, reject) => {
      // Kept here, since one session of a shared connection can be lost alone.
      this.#calls.add(reject)
      this.#connection
        .request(method, params, this.#channel)
        .then(resolve, reject)
        .finally(() => this.#calls.delete(reject))
    })
  }

  #startHeartbeat(everyMs: number): () => void {
    return startHeartbeat({
      clock: this.#clock,
      everyMs,
      beat: async sent => {
        while (this.#running !== undefined) await settled(this.#running)
        sent()
        await this.#call(METHOD.hello, { session_id: this.sessionId }, undefined).catch((error: unknown) => {
          if (!hasTag(error, 'remote-error')) throw error
        })
      },
      onLost: why => this.#connection.abort(sessionLost(this.#connection.address, why)),
    })
  }
}

function isManifest(value: unknown): value is TaskManifest {
  return isObject(value) && typeof value.id === 'string'
}

function hasPrompt(frame: JsonObject): frame is PromptFrame {
  return 'prompt' in frame
}

function hasScore(frame: JsonObject): frame is GradeFrame {
  return typeof frame.score === 'number' && Number.isFinite(frame.score)
}

function settled(promise: Promise<unknown>): Promise<void> {
  return promise.then(nothing, nothing)
}

function nothing(): void {}
