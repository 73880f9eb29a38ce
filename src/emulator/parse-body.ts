import type { z } from 'zod'
import { refused } from './errors.ts'

/** A body or a query as `schema` has it; what does not fit is answered with 400. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(value ?? {})
  if (success) return data
  const problems = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw refused(400, problems.join('; '))
}
