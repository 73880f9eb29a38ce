import { TroupeError } from '../../errors.ts'

/** Says nothing of a model: the run has no reward. */
export function programMissing(command: string, cwd: string): TroupeError {
  return new TroupeError({
    tag: 'agent-program-missing',
    address: command,
    message: `there is no program "${command}" in the sandbox (looked for on its PATH and in ~/.local/bin, from ${cwd}). Install Claude Code in the image that sandboxes are made from, with "npm install -g @anthropic-ai/claude-code", or say where it is with the agent's config {"command": "/path/to/claude"}.`,
    details: { command },
  })
}

/** It ended before it said how the work went, which says nothing of a model either. */
export function programFailed(command: string, exitCode: number, words: string): TroupeError {
  return new TroupeError({
    tag: 'agent-program-failed',
    address: command,
    message: `"${command}" ended with status ${exitCode} and no result: ${words || 'it said nothing on stderr'}. Run it by hand in the image to see why.`,
    details: { exitCode },
  })
}

/** The program says itself that its work went wrong. */
export function workFailed(command: string, subtype: string, words: string): TroupeError {
  return new TroupeError({
    tag: 'agent-program-error',
    address: command,
    message: `"${command}" reports ${subtype}: ${words || 'nothing further'}`,
    details: { subtype },
  })
}

export function badOutput(command: string, line: string): TroupeError {
  return new TroupeError({
    tag: 'agent-program-failed',
    address: command,
    message: `"${command}" printed a line that is no event of --output-format stream-json: ${line.slice(0, 120)}. Use a release of Claude Code that has that format.`,
  })
}
