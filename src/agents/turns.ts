import type { Clock } from '../clock.ts'
import { makeRandom } from '../random.ts'
import type { ToolCall, TurnTokens } from '../rollout/trajectory.ts'
import type { AgentContext, AgentStop } from './agent.ts'
import { chatCutOff } from './chat/errors.ts'
import type { ToolResult } from './chat/tools/index.ts'
import { readAnswer } from './read-answer.ts'

/** A model's next message, whoever serves it. */
export interface Reply {
  readonly answer: string
  readonly calls: readonly Call[]
  /** Cut off at its token limit. */
  readonly isCut: boolean
  /** Only as the server gave them: where it gives none there are none. */
  readonly tokens?: TurnTokens | undefined
  /** Which weights put it out, as the server names them. */
  readonly version?: string | undefined
}

/** A call that a model made, ready to be run. */
export interface Call {
  readonly name: string
  readonly given: ToolCall['arguments']
  /** Rejects only as a tool does: with the shell gone, or aborted. */
  run(): Promise<ToolResult>
}

/** A conversation with a model, in the form that its service wants. */
export interface Dialogue {
  /** Where its model is asked, as errors name it. */
  readonly url: string
  ask(turn: number, random: () => number): Promise<Reply>
  /** What the calls of the last reply gave, in their order. */
  answered(results: readonly ToolResult[]): void
}

/** How long a model may go on. */
export interface TurnLimits {
  readonly maxSteps: number
  /** Steps in a row with a call that cannot be run which end the rollout: the model has lost the thread. */
  readonly maxMalformed: number
}

/** Asks and runs calls in turn until the model makes none, is cut off, or reaches a limit; records each turn. */
export async function takeTurns(
  { signal, record, seed, returns }: Pick<AgentContext, 'signal' | 'record' | 'seed' | 'returns'>,
  dialogue: Dialogue,
  { maxSteps, maxMalformed }: TurnLimits,
  clock: Clock,
): Promise<{ readonly answer: unknown; readonly stop: AgentStop }> {
  const startedAt = clock.now()
  const since = (from: number) => ({ atMs: from - startedAt, tookMs: clock.now() - from })
  const random = makeRandom(seed)
  let malformedInARow = 0

  function recordCall({ name, given }: Call, { type, text }: ToolResult, from: number): void {
    const toolCalls = [{ name, arguments: given, result: text, isError: type !== 'done' }]
    record({ role: 'tool', text: '', toolCalls, ...since(from) })
  }

  const conclude = (said: string, stop: AgentStop) => ({ answer: readAnswer(said, returns), stop })

  for (let step = 1; ; step += 1) {
    const from = clock.now()
    const asked = dialogue.ask(step, random)
    const reply = step === 1 ? await firstWord(asked, dialogue.url, signal) : await asked
    const { answer, calls, tokens, version } = reply
    record({
      role: 'assistant',
      text: answer,
      ...since(from),
      ...(tokens === undefined ? {} : { tokens }),
      ...(version === undefined ? {} : { version }),
    })
    if (reply.isCut) {
      for (const call of calls) recordCall(call, CUT, clock.now())
      return conclude(answer, 'length')
    }
    if (calls.length === 0) return conclude(answer, 'done')

    const results: ToolResult[] = []
    for (const call of calls) {
      signal.throwIfAborted()
      const callFrom = clock.now()
      const result = await call.run()
      recordCall(call, result, callFrom)
      results.push(result)
    }
    dialogue.answered(results)
    const isMalformed = results.some(({ type }) => type === 'malformed')
    malformedInARow = isMalformed ? malformedInARow + 1 : 0
    const isLast = step === maxSteps
    if (isMalformed && (isLast || malformedInARow === maxMalformed)) return conclude(answer, 'malformed-tool-call')
    if (isLast) return conclude(answer, 'max-steps')
  }
}

/** A model that has not said one word when its rollout is cut was not there for it: such a run says nothing of the model. */
async function firstWord<Value>(asked: Promise<Value>, url: string, signal: AbortSignal): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    throw signal.aborted && error === signal.reason ? chatCutOff(url, 'it never answered', error) : error
  }
}

const CUT: ToolResult = { type: 'failed', text: 'not run: the message was cut off at its token limit' }
