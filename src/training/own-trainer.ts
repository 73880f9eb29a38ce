import type { AgentSpec } from '../agents/agent.ts'
import { loadModule, toPath } from '../modules/load-module.ts'
import { noTrainerFactory, notATrainer } from './errors.ts'
import type { Trainer } from './trainer.ts'

/** What a training of one's own consists of: the trainer, and what acts with the policy that it trains. */
export interface TrainerSetup {
  readonly trainer: Trainer
  /** Where the policy answers chat completions with token ids, up to and with `/v1`: the chat agent asks it. */
  readonly served?: { readonly inferenceUrl: string; readonly apiKeyVariable?: string }
  /** In its place, an agent of one's own; its turns say which `version` put them out. */
  readonly agent?: AgentSpec
}

/** What a module's trainer is asked for on the command line. */
export interface TrainerRequest {
  /** What `--model` says. */
  readonly model: string | undefined
}

/** Makes the trainer of a module, `troupe train --trainer FILE`. What it opens, the trainer's `close` closes. */
export type TrainerFactory = (request: TrainerRequest) => TrainerSetup | Promise<TrainerSetup>

/** Types a module's export as a trainer factory. */
export function defineTrainer(factory: TrainerFactory): TrainerFactory {
  return factory
}

/**
 * The trainer of `trainer.ts`, or `trainer.ts#exportName` (the default export otherwise). Rejects with what loading the module throws, with
 * `not-a-trainer`, and with what the factory throws.
 */
export async function loadTrainer(text: string, request: TrainerRequest): Promise<TrainerSetup> {
  const hash = text.lastIndexOf('#')
  const path = toPath(hash < 0 ? text : text.slice(0, hash))
  const name = hash < 0 ? 'default' : text.slice(hash + 1)
  const exported = await loadModule(path)
  const factory = exported[name]
  if (!isFactory(factory)) throw noTrainerFactory(path, name, Object.keys(exported))
  const made: unknown = await factory(request)
  if (!isRecord(made) || !isRecord(made.trainer)) throw notATrainer(path, ['trainer'])
  const { trainer, agent, served } = made
  const missing = [
    ...(typeof trainer.model === 'string' ? [] : ['trainer.model']),
    ...['forwardBackward', 'optimStep', 'policyVersion']
      .filter(method => typeof trainer[method] !== 'function')
      .map(method => `trainer.${method}`),
    ...(isRecord(agent) || (isRecord(served) && typeof served.inferenceUrl === 'string')
      ? []
      : ['served.inferenceUrl (or agent)']),
  ]
  if (missing.length > 0) throw notATrainer(path, missing)
  return made as unknown as TrainerSetup
}

function isFactory(value: unknown): value is TrainerFactory {
  return typeof value === 'function'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
