/** Foreign text and figures, as they may stand on a page and in a picture. */

/** As text or as a quoted attribute of HTML and SVG. Receipts are foreign input: whatever is in one goes through here or through `toLabel`. */
export function escapeText(text: string): string {
  return toPrintable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** One short line without what XML cannot hold; for the chart library, which escapes by itself. */
export function toLabel(text: string): string {
  const line = toPrintable(text).replaceAll(/\s+/g, ' ').trim()
  return line.length <= MAX_LABEL ? line : `${line.slice(0, MAX_LABEL - 1)}…`
}

/** Three significant digits, without an exponent; whole numbers as they are, thousands apart. A dash for what is not there. */
export function toFigure(value: number | undefined, digits = 3): string {
  if (value === undefined || !Number.isFinite(value)) return '–'
  const magnitude = Math.abs(value)
  if (Number.isInteger(value) || magnitude >= 10 ** (digits - 1)) return WHOLE.format(value)
  return value.toFixed(Math.min(5, digits - 1 - Math.floor(Math.log10(magnitude))))
}

/** The same on an axis: no zeros at the end. */
export function toTick(value: number): string {
  return value >= 1_000 ? WHOLE.format(value) : String(Number(value.toPrecision(3)))
}

/** `9.4 s`, `0.26 s`, `4.1 ms`. */
export function toSeconds(seconds: number | undefined, digits = 2): string {
  if (seconds === undefined) return '–'
  return seconds < 0.01 ? `${toFigure(seconds * 1_000, digits)} ms` : `${toFigure(seconds, digits)} s`
}

/** `41 ms`, `1.2 s`. */
export function toMilliseconds(ms: number): string {
  if (ms === 0) return '0'
  return ms < 1_000 ? `${toTick(ms)} ms` : `${toTick(ms / 1_000)} s`
}

/** How much sooner `ours` is, in words. */
export function toSooner(ours: number, theirs: number): string {
  const times = theirs / Math.max(ours, Number.MIN_VALUE)
  if (times >= 0.95 && times <= 1.05) return 'the same within 5 %'
  return times > 1 ? `${toTimes(times)} sooner` : `${toTimes(1 / times)} slower`
}

export function toCount(count: number, one: string, many: string): string {
  return `${toFigure(count, 3)} ${count === 1 ? one : many}`
}

const MAX_LABEL = 40
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const toTimes = (times: number) => `${toFigure(times, 2)} times`

// What no XML document may hold, escaped or not: control characters and halves of surrogate pairs.
const toPrintable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be found.
  text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff\p{Surrogate}]/gu, '\uFFFD')
