import { z } from 'zod'
import type { Template } from './template.ts'

export type CheckedArguments =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Made once: zod compiles a schema when it is first used, which is dear where it is done for each task. */
const NO_ARGUMENTS = z.strictObject({})

/** Reads a template's arguments, with defaults filled in, or says everything that is wrong with them. */
export function checkArguments(template: Template, args: unknown): CheckedArguments {
  const schema = template.args ?? NO_ARGUMENTS
  const known = knownKeys(schema)
  const unknown = known === undefined ? [] : Object.keys(Object(args)).filter(key => !known.includes(key))
  const problems = unknown.map(key => `${key}: no such argument; there is ${known?.join(', ') || 'none'}`)
  const parsed = schema.safeParse(args)
  if (parsed.success && problems.length === 0) return { ok: true, args: parsed.data }
  for (const issue of parsed.error?.issues ?? [])
    if (issue.code !== 'unrecognized_keys')
      problems.push(`${issue.path.length === 0 ? 'arguments' : issue.path.map(String).join('.')}: ${issue.message}`)
  return { ok: false, problems }
}

/** The JSON Schema of what may be written: defaults are optional, unknown keys refused. */
export function toArgumentsSchema(template: Template): Record<string, unknown> {
  const schema = template.args ?? NO_ARGUMENTS
  const known = knownKeys(schema)
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return { ...json, ...(known === undefined ? {} : { additionalProperties: false }) }
}

export function toReturnsSchema(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) }
}

/** The keys of a plain object schema; undefined where any key may come. Looks at the definition: the schema may be another zod's. */
function knownKeys(schema: z.ZodType): readonly string[] | undefined {
  const definition: unknown = schema.def
  if (typeof definition !== 'object' || definition === null) return undefined
  if (!('type' in definition) || definition.type !== 'object' || !('shape' in definition)) return undefined
  const catchall = 'catchall' in definition ? definition.catchall : undefined
  if (catchall !== undefined && !isNever(catchall)) return undefined
  return Object.keys(Object(definition.shape))
}

function isNever(schema: unknown): boolean {
  const definition = typeof schema === 'object' && schema !== null && 'def' in schema ? schema.def : undefined
  return typeof definition === 'object' && definition !== null && 'type' in definition && definition.type === 'never'
}
