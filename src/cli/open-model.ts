import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AgentSpec } from '../agents/agent.ts'
import { parseChatConfig, readKey } from '../agents/chat/config.ts'
import { Catalog } from '../models/catalog.ts'
import { hudEndpoint, type ModelEndpoint, oneServer } from '../models/endpoint.ts'
import { TrainingClient } from '../training/client.ts'
import { nameTrainer } from '../training/defaults.ts'
import type { TrainerSetup } from '../training/own-trainer.ts'
import type { Trainer } from '../training/trainer.ts'
import { noBase } from './errors.ts'
import type { ModelArguments } from './model-options.ts'
import { probeModel } from './probe-model.ts'

/** A model that can be asked and trained. */
export interface OpenModel {
  readonly model: string
  /** For whoever opens it to close. */
  openTrainer(): Trainer
  readonly agent: AgentSpec
  /** Resolves when its server has ended although nobody closed it. */
  readonly lost?: Promise<unknown>
  close(): Promise<void>
}

/** What is known of the model before anything is started. */
export interface ModelPlan {
  /** What makes two commands mean the same model: no port and no directory is in it. */
  readonly identity: Readonly<Record<string, unknown>>
  /** An agent that can be checked, but not yet run. */
  readonly agent: AgentSpec
  /**
   * Opens it. `name` is what an embedded policy is called where `--model` says nothing, and its directory; without one it is the
   * base, and nothing of it is kept.
   */
  open(name?: string): Promise<OpenModel>
  /** Frees what was opened to find that out. */
  close(): Promise<void>
}

/** The file beside an environment's tasks that its embedded policy starts from. */
const BASE_FILE = 'policy.base'

/**
 * Checks what can be checked without starting anything. Rejects with `no-base`, `no-key`, `unknown-model`, `no-token-ids` or what the
 * service answers.
 */
export async function planModel(tasks: string, options: ModelArguments): Promise<ModelPlan> {
  switch (nameTrainer(options.trainer)) {
    case 'hud':
      return planService(options)
    case 'embedded':
      return planEmbedded(tasks, options)
    case 'own':
      return planOwn(options)
  }
}

async function planService(options: ModelArguments): Promise<ModelPlan> {
  const endpoint = hudEndpoint()
  const model = options.model ?? ''
  const agent = toAgent(model, endpoint, options)
  readKey(parseChatConfig(agent.config))
  await using catalog = new Catalog(endpoint)
  await catalog.resolve(model)
  await probeModel(agent.config)
  const openTrainer = () => new TrainingClient(model, endpoint)
  return {
    identity: identify(options),
    agent,
    open: async () => ({ model, openTrainer, agent, close: async () => {} }),
    close: async () => {},
  }
}

async function planOwn(options: ModelArguments): Promise<ModelPlan> {
  const { loadTrainer } = await import('../training/own-trainer.ts')
  const { trainer, agent: own, served } = await loadTrainer(options.trainer, { model: options.model })
  const close = async () => trainer.close?.()
  try {
    const agent = own ?? toAgent(trainer.model, toEndpoint(served), options)
    if (agent.kind === 'chat' && own === undefined) await probeModel(agent.config)
    const openTrainer = () => trainer
    return {
      identity: identify(options),
      agent,
      open: async () => ({ model: trainer.model, openTrainer, agent, close: async () => {} }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Whole, so that HUD's addresses and its key have no part in it. */
function toEndpoint(served: TrainerSetup['served']): ModelEndpoint {
  const { inferenceUrl = '', apiKeyVariable } = served ?? {}
  const endpoint = { apiUrl: inferenceUrl, rlUrl: inferenceUrl, inferenceUrl }
  return apiKeyVariable === undefined ? endpoint : { ...endpoint, apiKeyVariable }
}

function planEmbedded(tasks: string, options: ModelArguments): ModelPlan {
  const base = findBase(tasks, options.base)
  const own = options.model
  return {
    identity: identify(options),
    agent: toAgent(own ?? 'policy', oneServer('http://127.0.0.1:0'), options),
    async open(name) {
      const { startPolicy } = await import('../policy/host/index.ts')
      const called = own ?? name
      const { model, endpoint, lost, close } = await startPolicy({
        base,
        ...(called === undefined ? {} : { name: called, directory: join(options.policies, called) }),
        ...(options.samplers === undefined ? {} : { samplers: options.samplers }),
        ...(options.policyHost === undefined ? {} : { host: options.policyHost }),
      })
      const openTrainer = () => new TrainingClient(model, endpoint)
      return { model, openTrainer, agent: toAgent(model, endpoint, options), lost, close }
    },
    close: async () => {},
  }
}

function identify({ trainer, model, base, maxSteps, temperature, maxTokens }: ModelArguments): Record<string, unknown> {
  return {
    trainer,
    model: model ?? null,
    base: base ?? null,
    maxSteps: maxSteps ?? null,
    temperature: temperature ?? null,
    maxTokens: maxTokens ?? null,
  }
}

/** Throws `no-base`. */
export function findBase(tasks: string, named: string | undefined): string {
  const directory = statSync(tasks, { throwIfNoEntry: false })?.isDirectory() === true ? tasks : dirname(tasks)
  const base = resolve(named ?? join(directory, BASE_FILE))
  if (!existsSync(base)) throw noBase(base)
  return base
}

/** The chat agent that training needs: with token ids, and with whatever else of sampling was asked for. */
function toAgent(
  model: string,
  endpoint: ModelEndpoint,
  { maxSteps, temperature, maxTokens }: ModelArguments,
): Extract<AgentSpec, { kind: 'chat' }> {
  return {
    kind: 'chat',
    config: {
      model,
      endpoint,
      completionKwargs: {
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
        extra_body: { return_token_ids: true },
      },
      // What comes after a call that cannot be run would be trained on as well, and teaches nothing.
      maxMalformed: 1,
      ...(maxSteps === undefined ? {} : { maxSteps }),
    },
  }
}
