import type { TrajectoryWords, TurnWords } from '../rollout/pack.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { ToolCall, Trajectory, TurnTokens } from '../rollout/trajectory.ts'

/** Who did what a step tells of. */
export type StepSource = 'user' | 'agent' | 'tool' | 'task' | 'system'

/** A step of HUD's schema `hud.step.v1`. Fields that do not apply are absent; `step_id` counts from 1. */
export interface Step {
  readonly step_id: number
  readonly source: StepSource
  readonly started_at: string
  readonly ended_at: string
  readonly error?: string
  readonly messages?: readonly PromptMessage[]
  readonly task_call?: {
    readonly phase: 'setup' | 'evaluate'
    readonly name: string
    readonly arguments: unknown
    readonly result: unknown
  }
  readonly content?: string
  readonly tool_calls?: readonly StepToolCall[]
  readonly done?: boolean
  readonly model?: string
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number }
  readonly sample?: {
    readonly prompt_token_ids: readonly number[]
    readonly output_token_ids: readonly number[]
    readonly output_logprobs: readonly number[]
  }
  readonly call?: StepToolCall
  readonly result?: { readonly content: readonly Block[]; readonly isError: boolean; readonly call_id: string }
}

export interface StepToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: Block
}

type Block = Readonly<Record<string, unknown>> & { readonly type: string }

/** With or without the tokens themselves. */
export interface ToldTrajectory extends Omit<TrajectoryWords, 'turns'> {
  readonly turns: readonly (TurnWords & { readonly tokens?: TurnTokens })[]
}

export interface StepOptions {
  /** Token ids and logprobs of each model turn, where they are there: many times the rest. */
  readonly samples: boolean
  /** What the agent samples, where that is known. */
  readonly model: string | undefined
}

type Draft = Omit<Step, 'step_id' | 'started_at' | 'ended_at'> & { readonly from: number; readonly to: number }

/** A finished run as the platform wants it told: setup, prompt, the agent's turns and its tools, evaluation, and what went wrong. */
export function toSteps(header: RunHeader, trajectory: ToldTrajectory, options: StepOptions): readonly Step[] {
  const { task, timings, startedAt } = header
  const setupAt = startedAt + (timings.provisioning ?? 0) + (timings.connecting ?? 0)
  const agentAt = setupAt + (timings.starting ?? 0)
  const gradingAt = agentAt + (timings.agent ?? 0)
  const drafts: Draft[] = []
  if (timings.starting !== undefined) {
    const result = { prompt: trajectory.prompt }
    drafts.push({
      source: 'task',
      task_call: { phase: 'setup', name: task.id, arguments: task.args, result },
      from: setupAt,
      to: agentAt,
    })
    const messages = toMessages(trajectory.prompt)
    if (messages.length > 0) drafts.push({ source: 'user', messages, from: agentAt, to: agentAt })
  }
  drafts.push(...toTurnDrafts(trajectory.turns, agentAt, options))
  const { answer, grade, actorGrade } = trajectory
  const verifyingAt = gradingAt + (timings.grading ?? 0)
  // With a verifier there are two grades: the task's own is what the verifier was asked with.
  if (actorGrade === undefined) drafts.push(...toGradeDrafts(task.id, answer, grade, gradingAt, verifyingAt))
  else {
    drafts.push(...toGradeDrafts(task.id, answer, actorGrade, gradingAt, verifyingAt))
    const verifier = task.verifier?.id ?? task.id
    drafts.push(...toGradeDrafts(verifier, actorGrade, grade, verifyingAt, verifyingAt + (timings.verifying ?? 0)))
  }
  const { error, failedPhase, endedAt } = header
  if (error !== undefined)
    drafts.push({
      source: 'system',
      error: `[${failedPhase ?? header.outcome}] ${error.message}`,
      from: endedAt,
      to: endedAt,
    })
  return drafts.map(({ from, to, ...draft }, index) => ({
    step_id: index + 1,
    ...draft,
    started_at: toIso(from),
    ended_at: toIso(to),
  }))
}

export function toIso(at: number): string {
  return new Date(at).toISOString()
}

function toGradeDrafts(name: string, answer: unknown, grade: Trajectory['grade'], from: number, to: number): Draft[] {
  if (grade === null) return []
  const { isError, content } = grade
  const error = typeof content === 'string' ? content : 'the grader failed'
  return [
    {
      source: 'task',
      task_call: { phase: 'evaluate', name, arguments: { answer }, result: grade },
      ...(isError === true ? { error } : {}),
      from,
      to,
    },
  ]
}

function toTurnDrafts(turns: ToldTrajectory['turns'], agentAt: number, options: StepOptions): Draft[] {
  const calls = turns.map((turn, place) =>
    (turn.toolCalls ?? []).map((call, index) => ({ call, id: `call-${place + 1}-${index + 1}` })),
  )
  const lastWords = turns.findLastIndex(({ role }) => role === 'assistant')
  return turns.flatMap((turn, place) => {
    const from = agentAt + turn.atMs
    const at = { from, to: from + turn.tookMs }
    const own = calls[place] ?? []
    const tools = own.map(({ call, id }): Draft => ({ ...toToolDraft(call, id), ...at }))
    // What came out where no call is known, as of a scripted command.
    if (turn.role === 'tool') {
      const said = { content: [toText(turn.text)], isError: false, call_id: `call-${place + 1}` }
      return tools.length > 0 ? tools : [{ source: 'tool', result: said, ...at }]
    }
    // A model's calls are recorded behind its message, until it speaks again.
    const next = turns.findIndex(({ role }, index) => index > place && role === 'assistant')
    const made = calls.slice(place, next === -1 ? turns.length : next).flat()
    const { tokens, version } = turn
    const usage =
      tokens === undefined ? turn.tokenCounts : { prompt: tokens.prompt.length, output: tokens.output.length }
    const model = version ?? options.model
    return [
      {
        source: 'agent',
        content: turn.text,
        ...(made.length === 0 ? {} : { tool_calls: made.map(({ call, id }) => toStepCall(call, id)) }),
        ...(made.length === 0 && place === lastWords ? { done: true } : {}),
        ...(model === undefined ? {} : { model }),
        ...(usage === undefined ? {} : { usage: { prompt_tokens: usage.prompt, completion_tokens: usage.output } }),
        ...(tokens === undefined || !options.samples
          ? {}
          : {
              sample: {
                prompt_token_ids: [...tokens.prompt],
                output_token_ids: [...tokens.output],
                output_logprobs: [...tokens.logprobs],
              },
            }),
        ...at,
      },
      ...tools,
    ]
  })
}

function toToolDraft(call: ToolCall, id: string): Omit<Draft, 'from' | 'to'> {
  return {
    source: 'tool',
    call: toStepCall(call, id),
    result: { content: [toText(call.result)], isError: call.isError, call_id: id },
  }
}

function toStepCall({ name, arguments: given }: ToolCall, id: string): StepToolCall {
  return { id, name, arguments: given }
}

/** A message holds one block; a chat message with several becomes several. */
function toMessages(prompt: unknown): PromptMessage[] {
  if (prompt === null || prompt === undefined) return []
  if (!Array.isArray(prompt)) return [{ role: 'user', content: toText(toWords(prompt)) }]
  return prompt.flatMap((item: unknown): PromptMessage[] => {
    if (!isRecord(item)) return [{ role: 'user', content: toText(toWords(item)) }]
    const role = item.role === 'assistant' ? 'assistant' : 'user'
    const blocks = Array.isArray(item.content) ? item.content : [item.content]
    return blocks.map((block: unknown) => ({ role, content: toBlock(block) }))
  })
}

function toBlock(block: unknown): Block {
  if (isRecord(block)) {
    const { type, text, data, mimeType } = block
    if (type === 'text' && typeof text === 'string') return toText(text)
    if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string')
      return { type, data, mimeType }
  }
  return toText(toWords(block))
}

function toText(text: string): Block {
  return { type: 'text', text }
}

function toWords(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
