import { type FastifyInstance, fastify } from 'fastify'
import type { Clock } from '../../clock.ts'
import { TroupeError, toErrorData } from '../../errors.ts'
import type { IdSource } from '../../ids.ts'
import type { TrainingState } from '../policy.ts'
import type { Limits } from './batch.ts'
import type { CheckpointCodec } from './blob-codec.ts'
import type { Blobs } from './blobs.ts'
import { addCatalogueRoutes } from './catalogue-routes.ts'
import { addChatRoutes } from './chat-routes.ts'
import { badRequest, bodyTooLarge, portTaken, unknownRoute, unsupportedMediaType } from './errors.ts'
import { toErrorBody, toRetryAfter, toStatus } from './http-errors.ts'
import { makeInFlight } from './in-flight.ts'
import { type LoadedModels, type Machines, makeLoadedModels } from './loaded-models.ts'
import type { PromptFormat } from './prompt-format.ts'
import { openStore } from './store.ts'
import { addTrainRoutes } from './train-routes.ts'

export interface PolicyServerOptions {
  readonly base: TrainingState
  /** Identifies the base's tokenizer. */
  readonly tokenizer: string
  readonly limits: Limits
  readonly format: PromptFormat
  readonly machines: Machines
  readonly blobs: Blobs
  /** Checkpoints kept for each model; see the store. Default all. */
  readonly keep?: number
  readonly checkpoints: CheckpointCodec
  /** The model that the server is started for, and what it is called in a new store; see there. */
  readonly name?: string
  readonly newName: string
  readonly host: string
  /** 0 for one that is free. */
  readonly port: number
  readonly clock: Clock
  readonly ids: IdSource
  readonly randomSeed: () => number
  /** Largest body, default 64 MiB. */
  readonly bodyLimitBytes?: number
  /** Completions under way at most, default 1024; more get status 429. */
  readonly maxInFlight?: number
  /** For one completion, default 120 s. */
  readonly sampleDeadlineMs?: number
  /** Models loaded at a time, each with threads of its own; default 2. */
  readonly maxLoaded?: number
}

export interface PolicyServer {
  readonly url: string
  /** Name of the model that it was started for. */
  readonly model: string
  /** Cancels completions, lets the training call under way end, refuses the others. */
  close(): Promise<void>
}

const MAX_LOADED = 2
const MAX_IN_FLIGHT = 1024
const SAMPLE_DEADLINE_MS = 120_000
const BODY_LIMIT_BYTES = 64 * 2 ** 20
const REQUEST_TIMEOUT_MS = 300_000
/** How long a caller that reads or writes slowly can hold up the server's end. */
const CLOSE_GRACE_MS = 5_000

/** Resolves when the base's model can answer. Throws what `openStore` throws, or `port-taken`. */
export async function startPolicyServer(options: PolicyServerOptions): Promise<PolicyServer> {
  const { clock, ids } = options
  const store = await openStore(options)
  const models = makeLoadedModels(store, options.machines, ids, options.maxLoaded ?? MAX_LOADED)
  const inFlight = makeInFlight(
    clock,
    options.maxInFlight ?? MAX_IN_FLIGHT,
    options.sampleDeadlineMs ?? SAMPLE_DEADLINE_MS,
  )
  const app = makeApp(options.bodyLimitBytes ?? BODY_LIMIT_BYTES)
  const service = { ...options, store, models, inFlight }
  addChatRoutes(app, service)
  addTrainRoutes(app, service)
  addCatalogueRoutes(app, service)
  const close = async () => {
    inFlight.close()
    const cut = clock.after(CLOSE_GRACE_MS, () => app.server.closeAllConnections())
    try {
      await models.close()
      await app.close()
    } finally {
      cut()
      await store.close()
    }
  }
  try {
    const { id, name } = store.first()
    await models.use(id, model => model.ready())
    const url = await listen(app, options.host, options.port)
    warmSampler(models, id, options.format.stopToken)
    return { url, model: name, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Compiles in the background what the first completion would wait for. If that fails, the first completion says why. */
function warmSampler(models: LoadedModels, id: string, stopToken: number): void {
  const request = { prompt: Uint32Array.of(stopToken), maxTokens: 1, temperature: 0, seed: 0, stopToken }
  models.use(id, model => model.sample(request, new AbortController().signal)).catch(() => {})
}

function makeApp(bodyLimitBytes: number): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 256 },
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw unknownRoute(method, url)
  })
  app.setErrorHandler(async (thrown, _request, reply) => {
    const error = toErrorData(toOwnError(thrown, bodyLimitBytes))
    const status = toStatus(error)
    const wait = toRetryAfter(error, status)
    if (wait !== undefined) reply.header('retry-after', String(wait))
    return await reply.code(status).send(toErrorBody(error, status))
  })
  return app
}

/** What the framework refuses, in this server's words. */
function toOwnError(thrown: unknown, bodyLimitBytes: number): unknown {
  if (thrown instanceof TroupeError || !(thrown instanceof Error)) return thrown
  const code = 'code' in thrown ? thrown.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bodyLimitBytes)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType()
  const status = 'statusCode' in thrown ? thrown.statusCode : undefined
  return status === 400 ? badRequest('', `the body is not JSON that can be read: ${thrown.message}`) : thrown
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw portTaken(host, port, error)
  }
}
