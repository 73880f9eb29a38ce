import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'

const CONTROLS = /\p{C}/gu
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** What comes from tasks, agents and providers may hold anything: on a terminal it is one line of letters, and commands nothing. */
export function toPlain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').replaceAll(CONTROLS, '').trim()
}

/** At most so many columns of it; what is cut ends in `…`. Letters that take two columns count as two. */
export function fit(text: string, columns: number): string {
  if (columns <= 0) return ''
  if (stringWidth(text) <= columns) return text
  let width = 1
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    width += stringWidth(segment)
    if (width > columns) break
    kept += segment
  }
  return `${kept}…`
}

/** Cut or filled up to exactly so many columns. */
export function pad(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const fitted = fit(text, columns)
  const space = ' '.repeat(Math.max(0, columns - stringWidth(fitted)))
  return side === 'left' ? fitted + space : space + fitted
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** Shares from 0 to 1, a letter each; the newest where there is no room for all. */
export function sparkline(shares: readonly number[], columns: number): string {
  return shares
    .slice(-Math.max(1, columns))
    .map(share => LEVELS[Math.min(LEVELS.length - 1, Math.max(0, Math.floor(share * LEVELS.length)))])
    .join('')
}

const MINUTE_S = 60
const HOUR_S = 3_600

/** `8 s`, `2:05`, `1:02:05`: as short as a column of a list wants it. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < MINUTE_S) return `${seconds} s`
  const rest = String(seconds % MINUTE_S).padStart(2, '0')
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)}:${rest}`
  const minutes = String(Math.floor((seconds % HOUR_S) / MINUTE_S)).padStart(2, '0')
  return `${Math.floor(seconds / HOUR_S)}:${minutes}:${rest}`
}
