import { createHash } from 'node:crypto'

/**
 * A task's slug when its row names none: `id`, plus `-` and the first 8 hex digits of SHA-1 over the arguments when there are
 * any. The hashed text is what Python's `json.dumps(args, sort_keys=True)` writes after it has read the same JSON, so that both
 * sides agree on the slug of a row. One thing cannot agree: a row that spells a whole number `1.0` is the number 1 here.
 * Throws `TypeError` for arguments that are not JSON (a cycle, a bigint).
 */
export function defaultSlug(id: string, args: Readonly<Record<string, unknown>>): string {
  const plain: unknown = JSON.parse(JSON.stringify(args))
  if (typeof plain !== 'object' || plain === null || Object.keys(plain).length === 0) return id
  return `${id}-${createHash('sha1').update(toPythonJson(plain)).digest('hex').slice(0, 8)}`
}

function toPythonJson(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return toPythonNumber(value)
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).sort(([one], [other]) => compareCodePoints(one, other))
  return `{${entries.map(([key, item]) => `${quote(key)}: ${toPythonJson(item)}`).join(', ')}}`
}

/** Everything beyond printable ASCII is written as UTF-16 units, DEL included, which `JSON.stringify` leaves alone. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Both write the shortest digits that read back the same; Python turns to an exponent below 1e-4, and pads it to two digits. */
function toPythonNumber(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4) return String(value)
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1')
}

function compareCodePoints(one: string, other: string): number {
  const left = [...one]
  const right = [...other]
  for (const [place, character] of left.entries()) {
    const opposite = right[place]
    if (opposite === undefined) return 1
    if (character !== opposite) return (character.codePointAt(0) ?? 0) - (opposite.codePointAt(0) ?? 0)
  }
  return left.length - right.length
}
