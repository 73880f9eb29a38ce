/** What can be wrong with an environment's own code, with what it is asked for, and with the file it is in. */
import { TroupeError } from '../errors.ts'

/** The second yield of a template was no score. It is an error of its author, and never the score 0. */
export function badScore(template: string, problem: string): TroupeError {
  return authoring(
    'bad-score',
    template,
    `graded with ${problem}: yield a finite number, or an object with a numeric "score" or "reward"`,
  )
}

export function badPrompt(template: string, problem: string): TroupeError {
  return authoring(
    'bad-prompt',
    template,
    `began with ${problem}: its first yield is the prompt, which is text, a list of messages, or an object with "prompt"`,
  )
}

export function missingPrompt(template: string): TroupeError {
  return authoring(
    'missing-prompt',
    template,
    'ended without a yield: its first yield is the prompt, its second the score',
  )
}

export function notAGenerator(template: string): TroupeError {
  return authoring(
    'bad-template',
    template,
    'is no async generator: write its body as async function* (args, context) { … }',
  )
}

export function noWorkspace(environment: string): TroupeError {
  return new TroupeError({
    tag: 'no-workspace',
    address: environment,
    message: `the environment "${environment}" has no workspace: make it with new Environment('${environment}', { workspace: true }), or do not use context.workspace.`,
  })
}

export function noWorkspaceHost(environment: string): TroupeError {
  return new TroupeError({
    tag: 'no-workspace-host',
    address: environment,
    message: `the environment "${environment}" wants workspaces and was given no workspace host: pass serveEnvironment one made by makeWorkspaceHost().`,
  })
}

export function duplicateTemplate(environment: string, id: string): TroupeError {
  return new TroupeError({
    tag: 'duplicate-template',
    address: `${environment}/${id}`,
    message: `the environment "${environment}" already has a template "${id}": give each template its own id.`,
  })
}

export function badName(what: string, name: unknown): TroupeError {
  return new TroupeError({
    tag: 'bad-name',
    message: `${what} needs a name, and ${JSON.stringify(name) ?? String(name)} is none: use text that is not empty.`,
  })
}

export function badArguments(environment: string, id: string, problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-arguments',
    address: `${environment}/${id}`,
    message: `the arguments do not fit the template "${id}" of "${environment}":\n  ${problems.join('\n  ')}\nCorrect them; nothing was started.`,
    details: { problems },
  })
}

export function unknownTemplate(environment: string, id: string, known: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'unknown-template',
    address: `${environment}/${id}`,
    message: unknownTemplateProblem(environment, id, known),
  })
}

export function unknownTemplateProblem(environment: string, id: string, known: readonly string[]): string {
  return `unknown template "${id}": the environment "${environment}" has ${list(known)}`
}

export function noTask(sessionId: string): TroupeError {
  return new TroupeError({
    tag: 'no-task',
    address: sessionId,
    message: 'no task in progress: start one before grading.',
  })
}

export function sessionClosed(sessionId: string): TroupeError {
  return new TroupeError({
    tag: 'session-closed',
    address: sessionId,
    message: 'the session is closed: open a new one.',
  })
}

export function taskCancelled(template: string): TroupeError {
  return new TroupeError({
    tag: 'task-cancelled',
    address: template,
    message: `the task of template "${template}" was cancelled.`,
  })
}

/** A `finally` block or a hook was still running at its deadline. What it holds may be left over. */
export function teardownTimeout(what: string, limitMs: number): TroupeError {
  return new TroupeError({
    tag: 'teardown-timeout',
    address: what,
    message: `${what} did not end within ${limitMs} ms and was left behind: make it watch context.signal.`,
  })
}

export function teardownFailed(what: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'teardown-failed',
      address: what,
      message: `${what} failed: ${why}. What it was to clean up may be left over.`,
    },
    cause,
  )
}

export function noEnvironment(path: string): TroupeError {
  return new TroupeError({
    tag: 'no-environment',
    address: path,
    message: `${path} exports no Environment. Export one: export const env = new Environment('name').`,
  })
}

export function severalEnvironments(path: string, names: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'several-environments',
    address: path,
    message: `${path} exports ${list(names)}. Say which one with --env NAME.`,
    details: { names },
  })
}

export function environmentNotExported(path: string, name: string, names: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'unknown-environment',
    address: path,
    message: `${path} exports no environment "${name}": it has ${list(names)}.`,
    details: { names },
  })
}

export function environmentNameTaken(path: string, name: string): TroupeError {
  return new TroupeError({
    tag: 'duplicate-environment',
    address: path,
    message: `${path} exports two environments named "${name}": give each its own name.`,
  })
}

export function tokenNotRead(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'token-not-read',
      address: path,
      message: `the token cannot be read from ${path}: ${why}. Name a file that holds nothing else with --token-file.`,
    },
    cause,
  )
}

/** Never shows the token. */
export function badToken(source: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'bad-token',
    address: source,
    message: `the token in ${source} will not do: ${why}. Make one with: openssl rand -hex 32`,
  })
}

export function badServeOption(problem: string): TroupeError {
  return new TroupeError({ tag: 'bad-serve-option', message: `${problem}.` })
}

function authoring(tag: string, template: string, problem: string): TroupeError {
  return new TroupeError({ tag, address: template, message: `the template "${template}" ${problem}.` })
}

function list(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  return names.map(name => `"${name}"`).join(', ')
}
