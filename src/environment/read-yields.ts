import { z } from 'zod'
import type { GradeFrame, PromptFrame } from '../wire/session.ts'
import { badPrompt, badScore } from './errors.ts'
import type { StructuredAnswer, Template } from './template.ts'

const messages = z.array(z.record(z.string(), z.unknown()))
const prompt = z.union([z.string(), messages])
const promptObject = z.looseObject({ prompt })

/** A template's first yield as the reply to `tasks.start`. Throws `bad-prompt`. */
export function toPromptFrame(template: string, yielded: unknown): PromptFrame {
  const alone = prompt.safeParse(yielded)
  if (alone.success) return { prompt: alone.data }
  const object = promptObject.safeParse(yielded)
  if (!object.success) throw badPrompt(template, describe(yielded))
  return promptObject.parse(toJson(object.data, problem => badPrompt(template, problem)))
}

const subscore = z.looseObject({
  name: z.string(),
  value: z.number(),
  weight: z.number().optional(),
})

/** What may stand beside the score, as far as peers rely on its shape. */
const beside = z.looseObject({
  done: z.boolean().optional(),
  content: z.string().nullable().optional(),
  info: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
  subscores: z.array(subscore).nullable().optional(),
})

/** A template's second yield as the reply to `tasks.grade`. Throws `bad-score`: whatever is no score is an error, never 0. */
export function toGradeFrame(template: string, yielded: unknown): GradeFrame {
  if (typeof yielded === 'number') return { score: requireFinite(template, yielded) }
  if (typeof yielded !== 'object' || yielded === null || Array.isArray(yielded))
    throw badScore(template, describe(yielded))
  const { reward, ...rest } = { reward: undefined, ...yielded }
  const value: unknown = 'score' in rest && rest.score !== undefined ? rest.score : reward
  if (typeof value !== 'number')
    throw badScore(
      template,
      `an object without a numeric "score" or "reward" (its keys: ${Object.keys(yielded).join(', ')})`,
    )
  const score = requireFinite(template, value)
  const plain = beside.safeParse(toJson(rest, problem => badScore(template, problem)))
  if (!plain.success)
    throw badScore(
      template,
      `a malformed ${plain.error.issues.map(({ path, message }) => `${path.join('.')} (${message})`).join(', ')}`,
    )
  return { ...plain.data, score }
}

/**
 * The answer as the template wants it: untouched, or read by its `returns` schema. An answer that does not fit is passed on raw,
 * because grading it is the template's business.
 */
export function toAnswer(template: Template, answer: unknown): unknown {
  if (template.returns === undefined) return answer
  const raw = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
  const structured: StructuredAnswer<unknown> = { content: readContent(template.returns, answer, raw), raw }
  return structured
}

function readContent(schema: z.ZodType, answer: unknown, raw: string): unknown {
  for (const candidate of typeof answer === 'string' ? [parseJson(answer), answer] : [answer]) {
    const parsed = schema.safeParse(candidate)
    if (parsed.success) return parsed.data
  }
  return raw
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // plain text is an answer too
  }
}

function requireFinite(template: string, score: number): number {
  if (!Number.isFinite(score)) throw badScore(template, `${score}, which is not finite`)
  return score
}

/** Plain data, as it will be on the wire. */
function toJson(value: unknown, toError: (problem: string) => Error): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch (error) {
    throw toError(`something that is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

function describe(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 40))}`
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`
  if (Array.isArray(value)) return 'a list that holds something else than messages'
  if (value === null) return 'null'
  return typeof value === 'object'
    ? `an object with the keys ${Object.keys(value).join(', ') || '(none)'}`
    : `a ${typeof value}`
}
