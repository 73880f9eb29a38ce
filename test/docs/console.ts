/** Consoles as pages show them, and what may differ in them. */
import type { Shown } from './plan.ts'

export interface ShownCommand {
  readonly command: string
  /** Empty where the page shows none. */
  readonly printed: string
}

/** `$ ` begins a command, `> ` goes on with it, all else was printed. Lines before the first command are not looked at. */
export function toCommands(text: string): readonly ShownCommand[] {
  const commands: { command: string; printed: string[] }[] = []
  for (const line of text.trimEnd().split('\n')) {
    const last = commands.at(-1)
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), printed: [] })
    else if (line.startsWith('> ') && last?.printed.length === 0) last.command += `\n${line.slice(2)}`
    else if (last?.command.endsWith('\\') === true && last.printed.length === 0) last.command += `\n${line}`
    else last?.printed.push(line)
  }
  return commands.map(({ command, printed }) => ({ command, printed: printed.join('\n').trim() }))
}

/** Whether a page shows what was printed: on a terminal, or by stdout alone. */
export function isShown(shown: Shown, printed: { readonly both: string; readonly stdout: string }): boolean {
  return [printed.both, printed.stdout].some(text => matches(toLines(shown.text, shown), toLines(text, shown)))
}

/** The lines as they are compared. */
export function toLines(
  text: string,
  { numbersVary, orderVaries }: Pick<Shown, 'numbersVary' | 'orderVaries'>,
): readonly string[] {
  const lines = text
    .trim()
    .split('\n')
    .map(line => (numbersVary ? withoutNumbers(line) : line.trimEnd()))
  return orderVaries ? [...lines].sort() : lines
}

/** Numbers with their units of time, ids, and what aligns them: cells and rules of tables are as wide as their figures. */
function withoutNumbers(line: string): string {
  return line
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '#')
    .replaceAll(/\b(?=[a-z]*\d)[0-9a-f]{8,}\b/g, '#')
    .replaceAll(/\d[\d,.]*/g, '#')
    .replaceAll(/(# (min|ms|s|h)\b ?)+/g, '#time ')
    .replaceAll(/─+/g, '─')
    .replaceAll(/ +/g, ' ')
    .trim()
}

const ELLIPSIS = '…'

/** A line that is an ellipsis stands for any lines, also for none. */
function matches(wanted: readonly string[], found: readonly string[]): boolean {
  const [first, ...rest] = wanted
  if (first === undefined) return found.length === 0
  if (first.trim() === ELLIPSIS) return found.some((_, at) => matches(rest, found.slice(at))) || matches(rest, [])
  const [line, ...others] = found
  return line !== undefined && lineMatches(first, line) && matches(rest, others)
}

/** An ellipsis in a line stands for any text. */
function lineMatches(wanted: string, found: string): boolean {
  const [head = '', ...pieces] = wanted.split(ELLIPSIS)
  if (pieces.length === 0) return wanted === found
  if (!found.startsWith(head)) return false
  let at = head.length
  for (const [index, piece] of pieces.entries()) {
    const next = index === pieces.length - 1 ? found.length - piece.length : found.indexOf(piece, at)
    if (next < at || !found.startsWith(piece, next)) return false
    at = next + piece.length
  }
  return true
}
