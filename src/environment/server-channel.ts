import { settleWithin } from '../bounded.ts'
import type { Clock } from '../clock.ts'
import { type Grant, METHOD, type Offer, parseOffer } from '../wire/extension.ts'
import { isObject, type JsonObject, type RpcId, type RpcRefusal, type RpcRequest } from '../wire/json-rpc.ts'
import type { ServedEnvironment, ServedSession } from './served.ts'
import { refuse, toRefusal } from './server-errors.ts'
import { drawRequest, type SessionTracer } from './session-tracer.ts'
import type { Session, SessionOwner, SessionTable } from './sessions.ts'

/** Requests that may wait while one that must not be overtaken is answered. HUD's clients send one at a time. */
const MAX_WAITING = 64
/** How long a template that was told to stop may take before it is no longer waited for. */
const INTERRUPT_MS = 2_000
/** How long a start goes on whose client has hung up. */
const ORPHANED_START_MS = 600_000

/** What HUD's clients may ask of a workspace in their hello, and of which nothing would come: to go on without it would be to deceive them. */
const NOT_OFFERED = ['workspace_routes', 'connections'] as const

/** The connection as its channels see it. */
export interface ChannelLink {
  /** True once the peer has shown itself to be ours. */
  readonly ours: boolean
  accept(offer: Offer): Grant
  /** Throws `frame-too-large`, or a TypeError for what JSON cannot hold. Nothing to do for a notification, which has no id. */
  reply(id: RpcId | undefined, result: unknown): void
  refuse(id: RpcId | undefined, refusal: RpcRefusal): void
  /** The peer floods the channel. */
  abort(refusal: RpcRefusal): void
  /** The channel's last word. `cut`: the session ended, and not because the peer asked here. */
  channelEnded(channel: number, how: 'goodbye' | 'cut' | 'hung-up'): void
}

export interface ChannelPorts {
  readonly environment: ServedEnvironment
  readonly sessions: SessionTable
  readonly clock: Clock
  readonly tracer?: SessionTracer | undefined
}

/** A call into the template, which runs beside the reading so that a cancel and a goodbye still reach it. */
interface Work {
  readonly id: RpcId | undefined
  readonly method: string
  readonly controller: AbortController
  done: Promise<void>
}

/** One control session's conversation. Requests are taken in order; all but `tasks.start` and `tasks.grade` are answered before the next. */
export class Channel implements SessionOwner {
  readonly #number: number
  readonly #link: ChannelLink
  readonly #ports: ChannelPorts
  readonly #waiting: (RpcRequest | 'hang-up')[] = []
  #blocked = false
  #over = false
  #ephemeral = false
  #session: Session | undefined
  #adopted: Session | undefined
  #work: Work | undefined

  constructor(number: number, link: ChannelLink, ports: ChannelPorts) {
    this.#number = number
    this.#link = link
    this.#ports = ports
  }

  receive(item: RpcRequest | 'hang-up'): void {
    if (!this.#blocked) this.#take(item)
    else if (this.#waiting.length < MAX_WAITING || item === 'hang-up') this.#waiting.push(item)
    else this.#link.abort(toRefusal(new Error(`more than ${MAX_WAITING} requests are waiting; send one at a time`)))
  }

  /** Somebody else ended the session. */
  cut(session: Session): void {
    if (session !== this.#session && session !== this.#adopted) return
    if (session !== this.#session) this.#letGo()
    this.#session = this.#adopted = undefined
    const work = this.#work
    this.#work = undefined
    work?.controller.abort()
    if (work !== undefined) this.#link.refuse(work.id, refuse.interrupted(METHOD.end))
    this.#end('cut')
  }

  #take(item: RpcRequest | 'hang-up'): void {
    if (this.#over) return
    const step = item === 'hang-up' ? this.#hangUp() : this.#answer(item)
    if (step === undefined) return
    this.#blocked = true
    step.then(() => {
      this.#blocked = false
      while (!this.#blocked) {
        const next = this.#waiting.shift()
        if (next === undefined) return
        this.#take(next)
      }
    })
  }

  /** Undefined when the next request may be taken at once; otherwise never rejects. */
  #answer(request: RpcRequest): Promise<void> | undefined {
    try {
      return this.#dispatch(request)?.catch((error: unknown) => this.#link.refuse(request.id, toRefusal(error)))
    } catch (error) {
      this.#link.refuse(request.id, toRefusal(error))
      return undefined
    }
  }

  #dispatch(request: RpcRequest): Promise<void> | undefined {
    const { id, method } = request
    if (method === METHOD.cancel) return this.#cancel(id)
    if (method === METHOD.bye) return drawRequest(this.#ports.tracer, request, () => this.#bye(id))
    if (this.#work !== undefined) throw refuse.stillRunning(method)
    switch (method) {
      case METHOD.hello:
        return this.#hello(request)
      case METHOD.list:
        this.#link.reply(id, { tasks: this.#ports.environment.tasks() })
        return undefined
      case METHOD.start:
        this.#begin(request, (params, signal) => this.#start(id, params, signal))
        return undefined
      case METHOD.grade:
        this.#begin(request, (params, signal) => this.#grade(id, params, signal))
        return undefined
      case METHOD.park:
        if (!this.#link.ours) throw refuse.unknownMethod(method)
        this.#park(id)
        return undefined
      default:
        throw refuse.unknownMethod(method)
    }
  }

  #hello(request: RpcRequest): Promise<void> | undefined {
    const { id, params } = request
    for (const wanted of NOT_OFFERED) if (isWanted(params[wanted])) throw refuse.notOffered(wanted)
    const requested = params.session_id ?? undefined
    if (requested !== undefined && requested !== this.#session?.id) {
      if (typeof requested !== 'string') throw refuse.sessionIdNotText()
      const resumed = this.#ports.sessions.resume(requested, this)
      this.#letGo()
      this.#session = resumed
    }
    const offer = parseOffer(params.troupe)
    const grant = offer === undefined ? undefined : this.#link.accept(offer)
    if (offer !== undefined) this.#ephemeral = offer.ephemeral
    if (this.#session !== undefined) {
      this.#welcome(id, this.#session, grant)
      return undefined
    }
    const { tracer, sessions } = this.#ports
    return drawRequest(tracer, request, () => sessions.open(this)).then(session => {
      this.#session = session
      this.#welcome(id, session, grant)
    })
  }

  #welcome(id: RpcId | undefined, session: Session, grant: Grant | undefined): void {
    const { name, version } = this.#ports.environment
    const welcome = { session_id: session.id, env: { name, version }, bindings: session.served.bindings }
    this.#link.reply(id, grant === undefined ? welcome : { ...welcome, troupe: grant })
  }

  #begin(request: RpcRequest, run: (params: JsonObject, signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController()
    const work: Work = { id: request.id, method: request.method, controller, done: Promise.resolve() }
    this.#work = work
    // Whoever interrupts the work has answered the call: what it still comes to is nobody's.
    work.done = drawRequest(this.#ports.tracer, request, () => run(request.params, controller.signal)).then(
      () => this.#finish(work),
      (error: unknown) => {
        this.#finish(work)
        if (!controller.signal.aborted) this.#link.refuse(request.id, toRefusal(error))
      },
    )
  }

  #finish(work: Work): void {
    if (this.#work === work) this.#work = undefined
  }

  async #start(id: RpcId | undefined, params: JsonObject, signal: AbortSignal): Promise<void> {
    const { environment, sessions } = this.#ports
    const taskId = params.id
    const args = params.args ?? {}
    if (typeof taskId !== 'string') throw refuse.taskIdNotText()
    if (!isObject(args)) throw refuse.argsNotObject()
    const problems = environment.checkTask(taskId, args)
    if (problems.length > 0) throw refuse.badTask(problems)
    let session = this.#session
    if (session === undefined) {
      session = await sessions.open(this)
      if (signal.aborted) return sessions.leave(session, true)
      this.#session = session
    }
    const prompt = await session.served.start(taskId, args, signal)
    if (signal.aborted) return
    try {
      this.#link.reply(id, prompt)
    } catch (error) {
      await session.served.cancel()
      throw error
    }
  }

  async #grade(id: RpcId | undefined, params: JsonObject, signal: AbortSignal): Promise<void> {
    if (this.#session?.served.hasTask) {
      await this.#gradeWith(this.#session.served, id, params, signal)
      return
    }
    // Our own clients name the session they mean: none of them takes another's task by mistake.
    if (this.#link.ours) throw refuse.noTask()
    const adopted = this.#ports.sessions.adopt(this)
    this.#adopted = adopted
    try {
      await this.#gradeWith(adopted.served, id, params, signal)
    } finally {
      this.#adopted = undefined
      this.#ports.sessions.leave(adopted, true)
    }
  }

  async #gradeWith(
    served: ServedSession,
    id: RpcId | undefined,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    const grade = await served.grade(params, signal)
    if (!signal.aborted) this.#link.reply(id, grade)
  }

  async #cancel(id: RpcId | undefined): Promise<void> {
    await this.#interrupt(METHOD.cancel)
    await this.#session?.served.cancel()
    this.#link.reply(id, { cancelled: true })
  }

  async #bye(id: RpcId | undefined): Promise<void> {
    await this.#interrupt(METHOD.bye)
    const session = this.#session
    this.#session = undefined
    try {
      if (session !== undefined) await this.#ports.sessions.end(session.id)
      this.#link.reply(id, { goodbye: true })
    } catch (error) {
      this.#link.refuse(id, toRefusal(error))
    }
    if (!this.#over) this.#end('goodbye')
  }

  #park(id: RpcId | undefined): void {
    if (this.#session === undefined) throw refuse.noSession(METHOD.park)
    this.#ports.sessions.park(this.#session)
    this.#session = undefined
    this.#link.reply(id, { parked: true })
    this.#end('goodbye')
  }

  /** A start goes on, to be parked with what it has done; a grade is stopped, since nobody is left to hear of it. */
  async #hangUp(): Promise<void> {
    const work = this.#work
    if (work?.method === METHOD.start && !this.#ephemeral)
      await settleWithin(this.#ports.clock, ORPHANED_START_MS, work.done)
    await this.#interrupt(METHOD.hangUp)
    this.#letGo()
    if (!this.#over) this.#end('hung-up')
  }

  async #interrupt(by: string): Promise<void> {
    const work = this.#work
    if (work === undefined) return
    this.#work = undefined
    work.controller.abort()
    await settleWithin(this.#ports.clock, INTERRUPT_MS, work.done)
    this.#link.refuse(work.id, refuse.interrupted(by))
  }

  #letGo(): void {
    const session = this.#session
    this.#session = undefined
    if (session !== undefined) this.#ports.sessions.leave(session, this.#ephemeral)
  }

  #end(how: 'goodbye' | 'cut' | 'hung-up'): void {
    this.#over = true
    for (const item of this.#waiting.splice(0))
      if (item !== 'hang-up') this.#link.refuse(item.id, refuse.noSession(item.method))
    this.#link.channelEnded(this.#number, how)
  }
}

/** An empty list asks for nothing. */
function isWanted(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}
