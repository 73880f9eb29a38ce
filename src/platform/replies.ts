/** What the platform answers, as far as it is read: more fields than these are no mistake. */
import { z } from 'zod'

export const tasksetNameReply = z.object({ taskset_id: z.string(), name: z.string() })

export const tasksetReply = z.object({
  id: z.string(),
  name: z.string(),
  can_edit: z.boolean().nullish(),
})

/** Its rows are read by the one parser of rows, which says which of them is wrong. */
export const exportReply = z.object({ name: z.string(), tasks: z.array(z.record(z.string(), z.unknown())) })

export const uploadReply = z.object({
  taskset_id: z.string(),
  tasks_created: z.number(),
  tasks_updated: z.number(),
})
