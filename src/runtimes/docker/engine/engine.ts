import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { untilAborted } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import { hasTag } from '../../../errors.ts'
import { certificatesNotRead, engineSilent, notAnEngine, windowsEngine } from '../errors.ts'
import type { EngineAddress } from './address.ts'
import { toEngineError } from './failure.ts'

/** An engine that has answered, and how it is asked. */
export interface Engine {
  readonly address: EngineAddress
  readonly clock: Clock
  readonly docker: Docker
  /**
   * One call, 30 s at most unless said otherwise. `what` completes "the engine would not …". Rejects with `docker-no-engine`, `docker-engine-lost`,
   * `docker-engine-silent`, with what the engine answered, or with the signal's reason.
   */
  ask<Value>(what: string, call: (abortSignal: AbortSignal) => Promise<Value>, options?: AskOptions): Promise<Value>
  /** Cuts what is still asked. */
  close(): void
}

export interface AskOptions {
  /** `none` for what goes on as long as a container does. */
  readonly deadlineMs?: number | 'none'
  readonly signal?: AbortSignal
}

const CALL_MS = 30_000
const FIRST_CALL_MS = 10_000

/**
 * Loads the client library and asks the engine who it is. Each call is a connection of its own, so that none is ever made over one that the engine has closed.
 * Rejects with `docker-no-engine`, `docker-not-an-engine`, `docker-windows-engine`, `docker-no-certificates`.
 */
export async function openEngine(address: EngineAddress, clock: Clock): Promise<Engine> {
  const { default: Client } = await import('dockerode')
  const options = await toClientOptions(address)
  const docker = makeClient(Client, options)
  const engine: Engine = {
    address,
    clock,
    docker,
    ask: makeAsk(address, clock),
    close: () => options.agent.destroy(),
  }
  try {
    const version: Partial<Docker.DockerVersion> = await engine.ask('say its version', () => docker.version(), {
      deadlineMs: FIRST_CALL_MS,
    })
    if (typeof version.ApiVersion !== 'string') throw notAnEngine(address)
    if (version.Os === 'windows') throw windowsEngine(address)
    return engine
  } catch (error) {
    engine.close()
    throw error
  }
}

/** The client looks at variables of its own accord, and reads the certificates that they name even where nobody wants any. */
function makeClient(Client: typeof Docker, options: Docker.DockerOptions): Docker {
  try {
    return new Client(options)
  } catch (error) {
    throw certificatesNotRead(process.env.DOCKER_CERT_PATH ?? '', error)
  }
}

/** Undefined where the engine has no such thing. */
export async function ifThere<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasTag(error, 'docker-not-found')) return undefined
    throw error
  }
}

function makeAsk(address: EngineAddress, clock: Clock): Engine['ask'] {
  return async (what, call, { deadlineMs = CALL_MS, signal } = {}) => {
    const limit = new AbortController()
    const until = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal])
    until.throwIfAborted()
    const cancel =
      deadlineMs === 'none'
        ? undefined
        : clock.after(deadlineMs, () => limit.abort(engineSilent(what, address, deadlineMs)))
    try {
      return await untilAborted(call(until), until)
    } catch (error) {
      if (until.aborted) throw until.reason
      throw toEngineError(what, address, error)
    } finally {
      cancel?.()
    }
  }
}

async function toClientOptions({ at }: EngineAddress): Promise<Docker.DockerOptions & { readonly agent: Agent }> {
  // What is absent here the client would take from variables of its own choice.
  if (at.kind === 'unix')
    return {
      socketPath: at.path,
      host: undefined,
      port: undefined,
      protocol: 'http',
      agent: new Agent({ keepAlive: false }),
    }
  const { host, port, certificates } = at
  if (certificates === undefined)
    return { socketPath: undefined, host, port, protocol: 'http', agent: new Agent({ keepAlive: false }) }
  const [ca, cert, key] = await readCertificates(certificates)
  const agent = new TlsAgent({ keepAlive: false })
  return { socketPath: undefined, host, port, protocol: 'https', ca, cert, key, agent }
}

async function readCertificates(directory: string) {
  const read = (name: string) => readFile(join(directory, name), 'utf8')
  try {
    return await Promise.all([read('ca.pem'), read('cert.pem'), read('key.pem')])
  } catch (error) {
    throw certificatesNotRead(directory, error)
  }
}
