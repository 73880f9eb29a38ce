import type { TurnTokens } from '../../rollout/trajectory.ts'
import { noTokenIds, tokenMismatch } from './errors.ts'
import type { ChatReply } from './reply.ts'

/**
 * The tokens of a turn as they came. Where they are required, throws `no-token-ids` naming the fields that are missing, and
 * `token-mismatch` for ids and logprobs that are not as many; else such a turn has none.
 */
export function toTurnTokens(
  { promptIds, outputIds, logprobs }: Pick<ChatReply, 'promptIds' | 'outputIds' | 'logprobs'>,
  how: { readonly required: boolean; readonly url: string; readonly turn: number },
): TurnTokens | undefined {
  if (promptIds === undefined || outputIds === undefined || logprobs === undefined) {
    if (!how.required) return undefined
    const missing = [
      ...(promptIds === undefined ? ['prompt_token_ids'] : []),
      ...(outputIds === undefined ? ['token_ids'] : []),
      ...(logprobs === undefined ? ['logprobs.content'] : []),
    ]
    throw noTokenIds(how.url, how.turn, missing)
  }
  if (outputIds.length !== logprobs.length) {
    if (!how.required) return undefined
    throw tokenMismatch(how.url, how.turn, outputIds.length, logprobs.length)
  }
  return { prompt: promptIds, output: outputIds, logprobs }
}
