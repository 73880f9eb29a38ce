import { hudEndpoint, type ModelEndpoint } from './endpoint.ts'

/**
 * An endpoint of three addresses is taken as it is: one without a key variable asks for no key, and HUD's key is not sent to it. One
 * that names fewer is HUD's apart from what it names.
 */
export function completeEndpoint(
  given: Partial<ModelEndpoint> = {},
  env: NodeJS.ProcessEnv = process.env,
): ModelEndpoint {
  const { apiUrl, rlUrl, inferenceUrl, apiKeyVariable } = given
  if (apiUrl !== undefined && rlUrl !== undefined && inferenceUrl !== undefined)
    return { apiUrl, rlUrl, inferenceUrl, ...(apiKeyVariable === undefined ? {} : { apiKeyVariable }) }
  const hud = hudEndpoint(env)
  return {
    apiUrl: apiUrl ?? hud.apiUrl,
    rlUrl: rlUrl ?? hud.rlUrl,
    inferenceUrl: inferenceUrl ?? hud.inferenceUrl,
    ...(apiKeyVariable === undefined ? { apiKeyVariable: hud.apiKeyVariable ?? 'HUD_API_KEY' } : { apiKeyVariable }),
  }
}
