/** Figures as people read them. A figure that does not exist is a dash, never a zero. */
const NOTHING = '–'
const MIB = 1024 * 1024

export function percent(share: number | null): string {
  return share === null ? NOTHING : `${(share * 100).toFixed(1)} %`
}

export function decimal(value: number | null, digits = 2): string {
  // What rounds to nothing has no sign.
  return value === null ? NOTHING : value.toFixed(digits).replace(/^-(?=[0.]+$)/, '')
}

/** `12.3 ms`, `4.56 s`, `2 min 05 s`. */
export function duration(ms: number | null): string {
  if (ms === null) return NOTHING
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(ms < 100 ? 1 : 0)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

/** A time that is only guessed, rounded up: `47 s`, `3 min`, `2 h 05 min`. */
export function roughly(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 100) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

export function mebibytes(bytes: number | null): string {
  if (bytes === null) return NOTHING
  return `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 2 : 0)} MiB`
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`
}
