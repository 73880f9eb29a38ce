import type { Clock } from '../clock.ts'
import { Catalog } from '../models/catalog.ts'
import type { ModelEndpoint, ServedModel } from '../models/endpoint.ts'
import { deliveryOf } from '../models/errors.ts'
import { publish } from '../telemetry/channels.ts'
import { type Body, type EncodedGroup, encodeGroups, toBody } from './body/encode-groups.ts'
import { type Encoder, openEncoder } from './body/encoder.ts'
import { BodyLimit } from './body-limit.ts'
import { checkGroups, hasSpread, type InputGroup, type TrainingInput } from './check-groups.ts'
import { combineResults } from './combine-results.ts'
import {
  type CustomLoss,
  type CustomLossFunction,
  checkWeights,
  type ForwardOptions,
  type ForwardResult,
  shiftIndices,
  toRows,
} from './custom-loss.ts'
import { deliverParts } from './deliver-parts.ts'
import { type BodySplit, bodySplit, callFailed, lossNotFinite, noSpread, stepUnknown } from './errors.ts'
import { InTurn } from './in-turn.ts'
import { Ledger, type LedgerEntry, type Sent, toCallState } from './ledger.ts'
import { backwardEnvelope, type Envelope, forwardBackwardEnvelope, forwardEnvelope, optimStepBody } from './payload.ts'
import { TrainingService } from './service.ts'
import type {
  AccumulatedState,
  Checkpoint,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  OptimStepOptions,
  OptimStepResult,
  Trainer,
} from './trainer.ts'

/** Where the model is trained (HUD's service where nothing is said), and how to talk to it. */
export interface TrainingClientOptions extends Partial<ModelEndpoint> {
  /** In place of the endpoint's variable. */
  readonly apiKey?: string
  /** For one request, milliseconds. Default 10 minutes. */
  readonly deadlineMs?: number
  /** Bodies over it are sent in parts. Default: what the service's refusals teach. */
  readonly maxBodyBytes?: number
  readonly clock?: Clock
  /** Told the first time that a body is sent in parts. */
  readonly onSplit?: (split: BodySplit) => void
}

/** The schemas of what comes back, loaded with the first call. */
const replies = () => import('./replies.ts')

/** Calls that may wait for those before them. */
const MAX_WAITING = 64

/**
 * Trains a model through HUD's training service, or anything with its surface. Runs are checked before anything is sent, encoded
 * outside the calling thread, and sent once: no training call is ever made twice. Calls are made one after the other. A call that
 * fails rejects with an error whose details hold `accepted`, `rejected` and `unknown` group ids; the step can then go on without
 * those of the last kind. An idle client keeps no process alive; closing it frees its thread and connections.
 */
export class TrainingClient implements Trainer, AsyncDisposable {
  readonly model: string
  readonly #options: TrainingClientOptions
  readonly #catalog: Catalog
  readonly #service: TrainingService
  readonly #encoder: Encoder
  readonly #ledger = new Ledger()
  readonly #limit: BodyLimit
  readonly #inTurn = new InTurn(MAX_WAITING)
  #calls = 0
  #toldOfSplit = false

  /** A slug or an id, or a model with where it is served. Nothing is sent yet: a missing key or model is an error of the first call. */
  constructor(model: string | ServedModel, options: TrainingClientOptions = {}) {
    const served = typeof model === 'string' ? { model, endpoint: {} } : model
    this.model = served.model
    this.#options = options
    this.#catalog = new Catalog({ ...served.endpoint, ...options })
    this.#service = new TrainingService(this.#catalog, this.model)
    this.#encoder = openEncoder(options.clock)
    this.#limit = new BodyLimit(options.maxBodyBytes)
  }

  /** What became of every body that was sent to accumulate since the last optimiser step. */
  get ledger(): readonly LedgerEntry[] {
    return this.#ledger.entries
  }

  /**
   * Adds to the gradient. A string among `inputs` is the id of a trace that the service recorded itself. Rejects before anything is
   * sent with what `checkGroups`, `checkTokens` and the options' checks throw; later with `loss-not-finite`, `group-too-large` or
   * the tags of `HttpClient.send`.
   */
  async forwardBackward(
    inputs: readonly TrainingInput[],
    options: ForwardBackwardOptions = {},
  ): Promise<ForwardBackwardResult> {
    const groups = checkGroups(inputs, options.groupSize)
    const envelope = forwardBackwardEnvelope(options)
    return this.#inTurn.run(() =>
      this.#deliver(groups, envelope, (call, part, body) =>
        this.#accumulate('forward-backward', call, sentIn(part), body),
      ),
    )
  }

  /** Applies what was accumulated, keeps a checkpoint and serves it. Rejects with `bad-training-option` for a learning rate of 0 or below. */
  async optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    const body = optimStepBody(options)
    return this.#inTurn.run(async () => {
      try {
        const result = await this.#service.post('optim-step', body, (await replies()).optimStepReply)
        this.#ledger.clear()
        return result
      } catch (error) {
        const delivery = deliveryOf(error)
        if (delivery === 'accepted') this.#ledger.clear()
        throw delivery === 'unknown' ? stepUnknown(error) : error
      }
    })
  }

  /** A `forwardBackward` and an `optimStep`. */
  async step(
    inputs: readonly TrainingInput[],
    options: ForwardBackwardOptions & OptimStepOptions,
  ): Promise<OptimStepResult> {
    // Before the first half is sent: it could not be taken back.
    optimStepBody(options)
    await this.forwardBackward(inputs, options)
    return this.optimStep(options)
  }

  /** What the current weights say of every token; accumulates nothing. One body: `body-too-large` when it does not pass. */
  async forward(inputs: readonly TrainingInput[], options: ForwardOptions = {}): Promise<ForwardResult> {
    const groups = checkGroups(inputs, options.groupSize)
    const envelope = forwardEnvelope(options)
    const encoded = await encodeGroups(this.#encoder, groups)
    const { forwardReply } = await replies()
    return this.#service.post('forward', toBody(envelope, fragmentsOf(encoded)), forwardReply)
  }

  /** Adds the gradient of a loss whose weights the caller computed from `forward`'s result. */
  async backward(
    forwardId: string,
    weights: CustomLoss['weights'],
    options: { readonly metrics?: Readonly<Record<string, number>> } = {},
  ): Promise<ForwardBackwardResult> {
    const envelope = backwardEnvelope(forwardId, options.metrics ?? {})
    const rows = toRows(weights)
    return this.#inTurn.run(async () => {
      this.#calls += 1
      return this.#sendRows(this.#calls, { runIds: [], groupIds: [] }, envelope, rows)
    })
  }

  /** Adds the gradient of a loss of the caller's own: a forward pass, `lossFn`, and its weights backwards. */
  async forwardBackwardCustom(
    inputs: readonly TrainingInput[],
    lossFn: CustomLossFunction,
    options: ForwardOptions = {},
  ): Promise<ForwardBackwardResult> {
    const groups = checkGroups(inputs, options.groupSize)
    const envelope = forwardEnvelope(options)
    let doneRuns = 0
    let doneGroups = 0
    return this.#inTurn.run(() =>
      this.#deliver(groups, envelope, async (call, part, body) => {
        const pass = await this.#service.post('forward', body, (await replies()).forwardReply)
        const { weights, metrics = {} } = lossFn(shiftIndices(pass.data, doneRuns, doneGroups))
        checkWeights(weights, pass.data)
        const sent = sentIn(part)
        doneRuns += sent.runIds.length
        doneGroups += part.length
        return this.#sendRows(call, sent, backwardEnvelope(pass.forwardId, metrics), toRows(weights))
      }),
    )
  }

  /** The names of the losses that the service has for this model. */
  async availableLosses(): Promise<readonly string[]> {
    return this.#service.losses((await replies()).lossesReply)
  }

  /** What the service holds since the last optimiser step; undefined where it does not tell, as HUD's does not. */
  async state(): Promise<AccumulatedState | undefined> {
    return this.#service.state((await replies()).stateReply)
  }

  /** Oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]> {
    return this.#catalog.checkpoints(this.model)
  }

  async policyVersion(): Promise<string | null> {
    return (await this.head())?.id ?? null
  }

  /** The served checkpoint; undefined while that is the model's base. */
  head(): Promise<Checkpoint | undefined> {
    return this.#catalog.head(this.model)
  }

  /** Rolls back to a checkpoint, or branches from it. */
  setHead(checkpointId: string): Promise<void> {
    return this.#inTurn.run(() => this.#catalog.setHead(this.model, checkpointId))
  }

  async close(): Promise<void> {
    await this.#encoder.close()
    await this.#catalog.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #deliver(
    groups: readonly InputGroup[],
    envelope: Envelope,
    send: (call: number, part: readonly EncodedGroup[], body: Body) => Promise<ForwardBackwardResult>,
  ): Promise<ForwardBackwardResult> {
    if (!hasSpread(groups)) publish('training', noSpread(groups.length))
    const encoded = await encodeGroups(this.#encoder, groups)
    this.#calls += 1
    const call = this.#calls
    try {
      const results = await deliverParts(encoded, envelope, this.#limit, {
        send: (part, body) => send(call, part, body),
        onSplit: (bytes, count, refused) => this.#tellOfSplit(bytes, count, refused),
      })
      return combineResults(results)
    } catch (error) {
      const entries = this.ledger.filter(entry => entry.call === call)
      throw callFailed(
        error,
        toCallState(
          entries,
          groups.map(({ groupId }) => groupId),
        ),
      )
    }
  }

  async #sendRows(call: number, sent: Sent, envelope: Envelope, rows: Float32Array<ArrayBuffer>[]) {
    const { json } = await this.#encoder.encodeRows(rows)
    return this.#accumulate('backward', call, sent, toBody(envelope, [json]))
  }

  async #accumulate(
    route: 'forward-backward' | 'backward',
    call: number,
    sent: Sent,
    body: Body,
  ): Promise<ForwardBackwardResult> {
    const settle = this.#ledger.open(call, sent, body.bytes)
    try {
      const result = await this.#service.post(route, body, (await replies()).forwardBackwardReply)
      settle('accepted', result.numDatums)
      const bad = Object.keys(result.metrics).find(name => /loss/.test(name) && !Number.isFinite(result.metrics[name]))
      if (bad !== undefined) throw lossNotFinite(bad, sent.groupIds)
      return result
    } catch (error) {
      settle(deliveryOf(error))
      throw error
    }
  }

  #tellOfSplit(bytes: number, groups: number, refused: boolean): void {
    if (this.#toldOfSplit) return
    this.#toldOfSplit = true
    const { maxBodyBytes, onSplit } = this.#options
    const split = { bytes, groups, ...(refused || maxBodyBytes === undefined ? {} : { limitBytes: maxBodyBytes }) }
    publish('training', bodySplit(split))
    onSplit?.(split)
  }
}

function sentIn(part: readonly EncodedGroup[]): Sent {
  return { runIds: part.flatMap(({ runIds }) => runIds), groupIds: part.map(({ groupId }) => groupId) }
}

function fragmentsOf(groups: readonly EncodedGroup[]): Uint8Array[] {
  return groups.flatMap(({ fragments }) => fragments)
}
