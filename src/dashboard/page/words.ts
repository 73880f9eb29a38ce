/** Figures as people read them; the same as the terminal's reports write them, which the browser cannot import. A figure that does not exist is a dash. */
const NOTHING = '–'

export function percent(share: number | null | undefined, digits = 1): string {
  return share === null || share === undefined ? NOTHING : `${(share * 100).toFixed(digits)} %`
}

export function decimal(value: number | null | undefined, digits = 2): string {
  // What rounds to nothing has no sign.
  return value === null || value === undefined ? NOTHING : value.toFixed(digits).replace(/^-(?=[0.]+$)/, '')
}

/** `1,234`. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : Math.round(value).toLocaleString('en-US')
}

/** `12.3 ms`, `4.56 s`, `2 min 05 s`, `3 h 04 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(ms < 100 ? 1 : 0)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${twoDigits(Math.floor((seconds % 3600) / 60))} min`
}

/** Of what goes on, and is another figure with the next message: tenths of seconds, then whole ones. */
export function elapsed(ms: number): string {
  if (ms >= 60_000) return duration(ms)
  return `${(Math.max(0, ms) / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

export function mebibytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return NOTHING
  const mib = bytes / (1024 * 1024)
  return `${mib.toFixed(mib < 10 ? 2 : 0)} MiB`
}

/** A sum of money with as many digits as say something. */
export function money(cost: { readonly amount: number; readonly currency: string } | null): string {
  if (cost === null) return NOTHING
  return `${cost.amount.toFixed(cost.amount < 10 ? 4 : 2)} ${cost.currency}`.trim()
}

/** `14:03:07`, in the reader's own time. */
export function clockTime(at: number): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')
}

/** `2026-11-30 14:03:07`, in the reader's own time. */
export function moment(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())} ${clockTime(at)}`
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`
}

/** `1 group`, `2 groups`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A reward in as few characters as tell it from others. */
export function reward(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2).replace(/0$/, '')
}

/** What of an unknown value a person reads: a text as it is, anything else as JSON. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
