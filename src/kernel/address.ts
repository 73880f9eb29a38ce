/** The parts of `node/path#incarnation`. */
export interface ActorAddress {
  readonly node: string
  readonly path: string
  readonly incarnation: number
}

export function formatAddress(node: string, path: string, incarnation: number): string {
  return `${node}/${path}#${incarnation}`
}

/** Undefined when `text` is no actor's address. */
export function parseAddress(text: string): ActorAddress | undefined {
  const slash = text.indexOf('/')
  const hash = text.lastIndexOf('#')
  if (slash < 1 || hash < slash) return undefined
  const incarnation = Number(text.slice(hash + 1))
  if (!Number.isInteger(incarnation) || incarnation === 0) return undefined
  return { node: text.slice(0, slash), path: text.slice(slash + 1, hash), incarnation }
}
