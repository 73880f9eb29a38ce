import { z } from 'zod'
import { metricsReply } from '../../models/replies.ts'

/** What Tinker's API answers, read once. Fields that are not known here are left out. */
export const futureReply = z.object({ request_id: z.string() })

export const sessionReply = z.object({ session_id: z.string() })

export const anyReply = z.unknown()

export const modelReply = z.object({ model_id: z.string() })

export const forwardBackwardReply = z.object({ metrics: metricsReply })

export const pathReply = z.object({ path: z.string() })

export const sampleReply = z.object({
  sequences: z.array(
    z.object({
      tokens: z.array(z.number()),
      logprobs: z.array(z.number()).nullish(),
      stop_reason: z.string(),
    }),
  ),
})

/** What a future comes to: it is not done, it failed, or its result. */
export type Retrieved<Value> =
  | { readonly type: 'pending' }
  | { readonly type: 'failed'; readonly error: string; readonly category: string }
  | { readonly type: 'done'; readonly value: Value }

export function pendingOr<Value>(schema: z.ZodType<Value>): z.ZodType<Retrieved<Value>> {
  return z.union([
    z.object({ type: z.literal('try_again') }).transform((): Retrieved<Value> => ({ type: 'pending' })),
    z
      .object({ error: z.string(), category: z.string().default('unknown') })
      .transform(({ error, category }): Retrieved<Value> => ({ type: 'failed', error, category })),
    schema.transform((value): Retrieved<Value> => ({ type: 'done', value })),
  ])
}
