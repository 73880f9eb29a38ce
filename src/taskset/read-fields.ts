/** Readers of unknown values. Without a schema, so that a program that only makes a taskset loads no library for it. */

export type Fields = Readonly<Record<string, unknown>>
export type Complain = (problem: string) => void
/** Undefined where something is wrong with the value, which `complain` was then told. */
export type Read<Value> = (value: unknown, path: string, complain: Complain) => Value | undefined

/** Rows that HUD wrote may hold null where a field is not set. */
export function readOptional<Value>(
  value: unknown,
  path: string,
  read: Read<Value>,
  complain: Complain,
): Value | undefined {
  return value === undefined || value === null ? undefined : read(value, path, complain)
}

export function readText(value: unknown, path: string, complain: Complain): string | undefined {
  if (typeof value !== 'string') complain(`"${path}" must be a string`)
  else if (value === '') complain(`"${path}" is empty`)
  else return value
  return undefined
}

export function readPositive(value: unknown, path: string, complain: Complain): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  complain(`"${path}" must be a number above 0`)
  return undefined
}

export function readWhole(value: unknown, path: string, complain: Complain): number | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  complain(`"${path}" must be a whole number above 0`)
  return undefined
}

/** A copy: what the row's owner changes later changes no task. */
export function readObject(value: unknown, path: string, complain: Complain): Fields | undefined {
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'))
  complain(`"${path}" must be an object`)
  return undefined
}

export function readList<Value>(
  value: unknown,
  path: string,
  read: Read<Value>,
  complain: Complain,
): Value[] | undefined {
  if (Array.isArray(value))
    return value
      .map((item: unknown, index) => read(item, `${path}.${index}`, complain))
      .filter(item => item !== undefined)
  complain(`"${path}" must be a list`)
  return undefined
}

/** Complains of keys that nobody reads. */
export function refuseOthers(fields: Fields, path: string, known: readonly string[], complain: Complain): void {
  for (const key of Object.keys(fields))
    if (!known.includes(key)) complain(`"${path}.${key}" is no field of ${path} (${known.join(', ')})`)
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** As JSON makes them, whichever realm they come from. */
function isPlain(value: unknown): value is Fields {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
