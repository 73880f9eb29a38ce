/** What the process's exit status says. Documented in docs/cli.md; scripts rely on it. */
export const EXIT = {
  /** The command did what was asked: for `eval`, every planned run has a grade. */
  ok: 0,
  /** It started, but runs failed or something broke on the way. */
  failed: 1,
  /** The input cannot be used; nothing was started. */
  badInput: 2,
  /** Ctrl-C or SIGTERM. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
