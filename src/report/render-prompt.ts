/** A prompt as a person reads it: text as it is; messages with who says them, and what is no text by its kind alone. */
export function renderPrompt(prompt: unknown): string {
  if (prompt === undefined || prompt === null) return 'none'
  if (typeof prompt === 'string') return prompt
  if (!Array.isArray(prompt) || !prompt.every(isMessage)) return JSON.stringify(prompt, undefined, 2)
  return prompt.map(({ role = 'user', content }) => `[${String(role)}] ${toText(content)}`).join('\n\n')
}

interface Message {
  readonly role?: unknown
  readonly content: unknown
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'content' in value
}

function toText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(toText).join('\n')
  if (typeof content !== 'object' || content === null) return String(content)
  if ('text' in content && typeof content.text === 'string') return content.text
  return `(${'type' in content ? String(content.type) : 'something that is no text'})`
}
