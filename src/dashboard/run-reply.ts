import { toFeedRun } from '../feed/to-feed.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import { type Hider, makeHider } from '../redact.ts'
import type { Run } from '../rollout/run.ts'
import type { ToolCall, Turn, TurnTokens } from '../rollout/trajectory.ts'
import type { RunReply, TokensReply, ToolCallReply, TurnReply } from './routes.ts'
import { makeTokenTexts } from './token-texts.ts'

type Texts = (ids: Uint32Array) => readonly string[] | undefined

/**
 * A run as the page reads it, with the text of each token where the vocabulary is known. Known secrets are hidden; a run in which one was hidden is shown without its tokens,
 * as they say the same.
 */
export function toRunReply(run: Run, tokenizer: Tokenizer | undefined): RunReply {
  const { jobId, task, agent, seed, bytes, trajectory } = run
  const { turns, prompt, answer, grade, actorGrade } = trajectory
  const hider = makeHider()
  const texts = tokenizer === undefined ? undefined : textsOf(tokenizer, turns)
  const isOpen = !hasSecret(run, hider)
  return {
    run: {
      ...toFeedRun(run, hider),
      jobId,
      environment: task.env,
      task: { id: task.id, args: hider.hideInValue(task.args) },
      agent,
      seed,
      bytes,
    },
    prompt: hider.hideInValue(prompt),
    turns: turns.map(turn => toTurn(turn, hider, isOpen, texts)),
    answer: hider.hideInValue(answer),
    grade: toRecord(grade, hider),
    ...(actorGrade === undefined ? {} : { actorGrade: toRecord(actorGrade, hider) }),
    tokenizer: texts === undefined || !isOpen ? null : 'embedded',
  }
}

function hasSecret({ trajectory: { prompt, turns } }: Run, hider: Hider): boolean {
  const said = [prompt, turns.map(({ text, toolCalls }) => ({ text, toolCalls }))]
  return JSON.stringify(hider.hideInValue(said)) !== JSON.stringify(said)
}

function toTurn(turn: Turn, hider: Hider, isOpen: boolean, texts: Texts | undefined): TurnReply {
  const { role, text, toolCalls, atMs, tookMs, tokens, version } = turn
  return {
    role,
    text: hider.hide(text),
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map(call => toCall(call, hider)) }),
    atMs,
    tookMs,
    ...(tokens === undefined || !isOpen ? {} : { tokens: toTokens(tokens, texts) }),
    ...(version === undefined ? {} : { version }),
  }
}

function toCall({ name, arguments: given, result, isError }: ToolCall, hider: Hider): ToolCallReply {
  return { name, arguments: toRecord(given, hider) ?? {}, result: hider.hide(result), isError }
}

function toTokens({ prompt, output, logprobs }: TurnTokens, texts: Texts | undefined): TokensReply {
  const promptTexts = texts?.(prompt)
  const outputTexts = texts?.(output)
  return {
    prompt: Array.from(prompt),
    output: Array.from(output),
    logprobs: Array.from(logprobs, value => (Number.isFinite(value) ? value : null)),
    ...(promptTexts === undefined || outputTexts === undefined ? {} : { promptTexts, outputTexts }),
  }
}

/** Undefined where a turn has a token that the vocabulary does not: the run is of another model. */
function textsOf(tokenizer: Tokenizer, turns: readonly Turn[]): Texts | undefined {
  const texts = makeTokenTexts(tokenizer)
  const lists = turns.flatMap(({ tokens }) => (tokens === undefined ? [] : [tokens.prompt, tokens.output]))
  return lists.length > 0 && lists.every(ids => texts(ids) !== undefined) ? texts : undefined
}

function toRecord(
  record: Readonly<Record<string, unknown>> | null,
  { hideInValue }: Hider,
): Readonly<Record<string, unknown>> | null {
  if (record === null) return null
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, hideInValue(value)]))
}
