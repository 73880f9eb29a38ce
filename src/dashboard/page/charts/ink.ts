import { LINE_COLOURS } from '../palette.ts'
import { tokenColour } from '../style/tokens.ts'

/** The colours of what is no data. */
export interface Ink {
  readonly ink: string
  readonly quiet: string
  readonly line: string
  readonly grid: string
  readonly card: string
  /** Of the lines, which are the data. */
  readonly lines: readonly string[]
}

/** The colour of the n-th line; after the last one they begin anew. */
export function lineColour({ lines, ink }: Ink, index: number): string {
  return lines[index % lines.length] ?? ink
}

export function inkOf(isDark: boolean): Ink {
  return {
    ink: tokenColour('ink', isDark),
    quiet: tokenColour('quiet', isDark),
    line: tokenColour('line', isDark),
    grid: tokenColour('grid', isDark),
    card: tokenColour('card', isDark),
    lines: LINE_COLOURS[isDark ? 'dark' : 'light'],
  }
}
