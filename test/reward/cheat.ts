/** One way to a reward that was not earned. */
export interface Cheat {
  readonly what: string
  /** What the agent runs besides; the task's files are there. */
  readonly leaves?: string
  /** What it writes to calc.py, or to the answer, given what it would have written otherwise. Default: that. */
  readonly writes?: (otherwise: string) => string
  /** What an honest piece of work earns with the same tricks around it. Absent: nothing honest is left of it. */
  readonly honest?: 0 | 1
  /** Takes the grader's whole time. */
  readonly slow?: true
}

/** A command that writes a file, whatever is in its text. */
export function writeFile(path: string, text: string): string {
  return `cat > '${path}' <<'TROUPE_END'\n${text}\nTROUPE_END\n`
}
