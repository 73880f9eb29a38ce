import type { z } from 'zod'
import { badRequest } from './errors.ts'

/** The body as the schema makes it. Throws `bad-request` naming the first place that is wrong, such as `inputs[3].samples[0]`. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  throw badRequest(toPlace(first?.path ?? []), first?.message ?? 'not understood')
}

function toPlace(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (place, part) =>
      typeof part === 'number' ? `${place}[${part}]` : `${place}${place === '' ? '' : '.'}${String(part)}`,
    '',
  )
}
