/** The bodies of the platform's routes, as strictly as a strict server takes them: an unknown field or a missing one is refused. */
import { z } from 'zod'

const id = z.string().regex(/^[0-9a-f]{32}$|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'no UUID')
const iso = z.iso.datetime({ offset: true })
const record = z.record(z.string(), z.unknown())

export const jobEnter = z.strictObject({
  name: z.string().min(1),
  group: z.int().min(1),
  taskset_id: id.optional(),
})

export const traceEnter = z.strictObject({
  job_id: id,
  group_id: id.optional(),
  task_slug: z.string().min(1),
  model: z.string().min(1).optional(),
  parent_trace_id: id.optional(),
})

export const traceExit = z.strictObject({
  status: z.enum(['completed', 'error', 'cancelled']),
  reward: z.number().optional(),
  error: z.string().optional(),
  evaluation_result: record.optional(),
  stop_reason: z.enum(['done', 'max_steps', 'length', 'timeout', 'malformed_tool_call']).optional(),
  metadata: record.optional(),
})

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.strictObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
])

const call = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.union([record, z.string()]).optional(),
  annotation: z.string().optional(),
  provider_name: z.string().optional(),
})

/** `hud.step.v1`: the skeleton, and the fields of the family of agents with tools. */
export const step = z
  .strictObject({
    step_id: z.int().min(1),
    source: z.enum(['user', 'agent', 'tool', 'task', 'subagent', 'system']),
    messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: block })).optional(),
    task_call: z
      .strictObject({
        phase: z.enum(['setup', 'evaluate']),
        name: z.string(),
        arguments: z.unknown().optional(),
        result: z.unknown().optional(),
      })
      .optional(),
    error: z.string().optional(),
    started_at: iso.optional(),
    ended_at: iso,
    extra: record.optional(),
    content: z.string().optional(),
    reasoning: z.string().optional(),
    tool_calls: z.array(call).optional(),
    done: z.boolean().optional(),
    finish_reason: z.string().optional(),
    stop_reason: z.enum(['length', 'malformed_tool_call']).optional(),
    refusal: z.string().optional(),
    citations: z.array(record).optional(),
    raw: z.unknown().optional(),
    model: z.string().optional(),
    usage: z
      .strictObject({
        prompt_tokens: z.int().optional(),
        completion_tokens: z.int().optional(),
        cached_tokens: z.int().optional(),
        cost_usd: z.number().optional(),
        llm_call_count: z.int().optional(),
      })
      .optional(),
    sample: z
      .strictObject({
        prompt_token_ids: z.array(z.int()),
        prompt_chunks: z.array(record).optional(),
        output_token_ids: z.array(z.int()),
        output_logprobs: z.array(z.number()),
      })
      .optional(),
    call: call.optional(),
    result: z
      .strictObject({ content: z.array(block), isError: z.boolean(), call_id: z.string().optional() })
      .optional(),
  })
  .superRefine(({ source, messages = [], task_call, error, call: made, result }, context) => {
    const lacks: Partial<Record<typeof source, boolean>> = {
      user: messages.length === 0,
      task: task_call === undefined,
      tool: made === undefined && result === undefined,
      system: error === undefined,
    }
    if (lacks[source] === true)
      context.addIssue({ code: 'custom', message: `a ${source} step without what makes it one` })
  })

export const upload = z.strictObject({
  telemetry: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        trace_id: z.string().regex(/^[0-9a-f]{32}$/),
        span_id: z.string().regex(/^[0-9a-f]{16}$/),
        parent_span_id: z
          .string()
          .regex(/^[0-9a-f]{16}$/)
          .nullable(),
        kind: z.enum(['INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']),
        start_time: iso,
        end_time: iso,
        status_code: z.enum(['UNSET', 'OK', 'ERROR']),
        status_message: z.string().nullable(),
        attributes: z.strictObject({
          'hud.schema': z.literal('hud.step.v1'),
          'hud.task_run_id': id,
          'hud.payload': step,
        }),
        events: z.array(z.unknown()),
      }),
    )
    .min(1)
    .max(100),
})

const row = {
  args: record.optional(),
  validation: z.array(record).optional(),
  agent_config: record.optional(),
  columns: record.optional(),
  runtime_config: record.optional(),
}

export const tasksUpload = z.strictObject({
  taskset_name: z.string().min(1),
  taskset_id: id.optional(),
  project_id: id.optional(),
  tasks: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        env: z.strictObject({ name: z.string().min(1) }),
        task_id: z.string().min(1),
        ...row,
        verifier: z
          .strictObject({ env: z.string().min(1), id: z.string().min(1), slug: z.string().min(1), ...row })
          .optional(),
      }),
    )
    .min(1),
})

export type JobEnter = z.infer<typeof jobEnter>
export type TraceEnter = z.infer<typeof traceEnter>
export type TraceExit = z.infer<typeof traceExit>
export type WireSpan = z.infer<typeof upload>['telemetry'][number]
export type WireTask = z.infer<typeof tasksUpload>['tasks'][number]
