/** One message of a pull or a build. */
export interface Progress {
  /** What a person is to read; may be several lines, or a part of one. */
  readonly text: string
  readonly error: string | undefined
  /** Of the image that was built. */
  readonly imageId: string | undefined
}

const LONGEST_LINE = 1024 * 1024

/** A message a line, as the engine writes them. What is no message is passed on as text. Rejects when the stream breaks. */
export async function* readProgress(stream: AsyncIterable<string | Buffer>): AsyncGenerator<Progress> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    rest += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield parseProgress(line)
    // A line without an end is no message, and would only be collected.
    if (rest.length > LONGEST_LINE) rest = ''
  }
  if (rest.trim() !== '') yield parseProgress(rest)
}

function parseProgress(line: string): Progress {
  const message = parseObject(line)
  if (message === undefined) return { text: line, error: undefined, imageId: undefined }
  const { stream, status, id, progress, error, aux } = message
  return {
    // How far a layer is would be told many times a second.
    text: typeof progress === 'string' ? '' : toText(stream, id, status),
    error: typeof error === 'string' ? error : undefined,
    imageId: isRecord(aux) && typeof aux.ID === 'string' ? aux.ID : undefined,
  }
}

function toText(stream: unknown, id: unknown, status: unknown): string {
  return typeof stream === 'string' ? stream : [id, status].filter(part => typeof part === 'string').join(': ')
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    // Not a message: told as it is.
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
