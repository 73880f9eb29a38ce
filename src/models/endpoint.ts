/** Where a model is served and trained: three services, which may be one server. URLs without a slash at their end. */
export interface ModelEndpoint {
  /** The catalogue: models, their checkpoints and heads. */
  readonly apiUrl: string
  /** The training service. */
  readonly rlUrl: string
  /** Chat completions, up to and with `/v1`. */
  readonly inferenceUrl: string
  /** Names the environment variable that holds the key; absent where no key is asked for. Keys themselves travel nowhere as data. */
  readonly apiKeyVariable?: string
}

/** HUD's own services. `HUD_API_URL`, `HUD_RL_URL` and `HUD_GATEWAY_URL` name others with the same surface. */
export function hudEndpoint(env: NodeJS.ProcessEnv = process.env): ModelEndpoint {
  return {
    apiUrl: withoutSlash(env.HUD_API_URL ?? 'https://api.hud.ai'),
    rlUrl: withoutSlash(env.HUD_RL_URL ?? 'https://rl.hud.ai'),
    inferenceUrl: `${withoutSlash(env.HUD_GATEWAY_URL ?? 'https://inference.hud.ai')}/v1`,
    apiKeyVariable: 'HUD_API_KEY',
  }
}

/** One server that is all three, such as the embedded policy's. It asks for no key. */
export function oneServer(url: string): ModelEndpoint {
  const base = withoutSlash(url)
  return { apiUrl: base, rlUrl: base, inferenceUrl: `${base}/v1` }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** A model with the place where it is served: stands for its slug wherever that is not HUD. */
export interface ServedModel {
  readonly model: string
  readonly endpoint: ModelEndpoint
}
