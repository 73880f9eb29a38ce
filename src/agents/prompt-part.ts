import { badPrompt } from './errors.ts'

/** A piece of a message. An image is its bytes in base64, or where it is. */
export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'image-url'; readonly url: string }

/** What a message holds: text, a block, or several. Throws `bad-prompt` naming the place and what cannot be shown. */
export function toParts(content: unknown, place: string): readonly PromptPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content)) return content.flatMap(part => toParts(part, place))
  const part = isObject(content) ? (toTextPart(content) ?? toImage(content)) : undefined
  if (part !== undefined) return [part]
  throw badPrompt(`${place} holds ${describe(content)}, which no model can be shown here`)
}

/** An image as one URL, which holds its bytes where they came with it. */
export function toUrl(part: Exclude<PromptPart, { readonly type: 'text' }>): string {
  return part.type === 'image-url' ? part.url : `data:${part.mediaType};base64,${part.data}`
}

type Fields = Readonly<Record<string, unknown>>

function toTextPart(block: Fields): PromptPart | undefined {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  const { resource } = block
  if (block.type === 'resource' && isObject(resource) && typeof resource.text === 'string')
    return { type: 'text', text: resource.text }
  return undefined
}

/** MCP has `data` and `mimeType`, Anthropic a `source`, OpenAI an `image_url`. */
function toImage(block: Fields): PromptPart | undefined {
  const { type, data, mimeType, source, image_url: url } = block
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return { type: 'image', mediaType: mimeType, data }
  if (type === 'image' && isObject(source)) {
    if (typeof source.data === 'string' && typeof source.media_type === 'string')
      return { type: 'image', mediaType: source.media_type, data: source.data }
    if (typeof source.url === 'string') return fromUrl(source.url)
  }
  if (type !== 'image_url' && type !== 'input_image') return undefined
  if (typeof url === 'string') return fromUrl(url)
  return isObject(url) && typeof url.url === 'string' ? fromUrl(url.url) : undefined
}

function fromUrl(url: string): PromptPart {
  const [, mediaType, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? []
  if (mediaType !== undefined && data !== undefined) return { type: 'image', mediaType, data }
  return { type: 'image-url', url }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(content: unknown): string {
  if (isObject(content) && typeof content.type === 'string') return `a block of type "${content.type}"`
  return content === null ? 'null' : `something of type ${typeof content}`
}
