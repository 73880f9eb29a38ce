import { type AnswerSchema, isPlainText } from './prompt.ts'

/**
 * What a model said in the end, as the template wants it: the JSON value in it, where a schema asks for one. Models put fences around it, or words before it;
 * what is no JSON stays as it was said, and the template grades that.
 */
export function readAnswer(said: string, returns: AnswerSchema | undefined): unknown {
  if (returns === undefined || isPlainText(returns)) return said
  const fenced = [...said.matchAll(/```(?:json)?\s*\n([\s\S]*?)\n?```/g)].at(-1)?.[1]
  for (const text of [said, fenced]) {
    if (text === undefined) continue
    try {
      return JSON.parse(text)
    } catch {
      // Looked for elsewhere, and else left as it is.
    }
  }
  return said
}
