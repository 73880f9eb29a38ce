import { posix } from 'node:path'
import { quote } from '../../../quote.ts'
import type { CommandForm, LastStage } from './dockerfile.ts'

/** Programs whose only work is to be process 1, which a command in a sandbox never is. */
const INITS: ReadonlySet<string> = new Set(['tini', 'tini-static', 'dumb-init', 'docker-init', 'catatonit'])

/**
 * What a container of the image would run, as one shell command: `cd /app && exec troupe serve …`. Undefined when the Dockerfile names none, so that
 * it would be the base image's.
 */
export function toCommand({ workdir, entrypoint, cmd }: LastStage): string | undefined {
  const line = toLine(entrypoint, cmd)
  if (line === undefined) return undefined
  return workdir === undefined ? line : `cd ${quoteDirectory(workdir)} && ${line}`
}

/** The rules of `docker run`: https://docs.docker.com/reference/dockerfile/#understand-how-cmd-and-entrypoint-interact */
function toLine(entrypoint: CommandForm | undefined, cmd: CommandForm | undefined): string | undefined {
  if (entrypoint === undefined) {
    if (cmd === undefined) return undefined
    return 'shell' in cmd ? toShellLine(cmd.shell) : toExec(cmd.argv)
  }
  if ('shell' in entrypoint) return toShellLine(entrypoint.shell)
  const prefix = dropInit(entrypoint.argv)
  if (cmd === undefined) return toExec(prefix)
  if ('argv' in cmd) return toExec([...prefix, ...cmd.argv])
  return prefix.length === 0 ? toShellLine(cmd.shell) : toExec([...prefix, '/bin/sh', '-c', cmd.shell])
}

function toExec(argv: readonly string[]): string | undefined {
  const rest = dropInit(argv)
  return rest.length === 0 ? undefined : `exec ${rest.map(toWord).join(' ')}`
}

/** `exec` where it is one simple command, so that no shell stands between it and its signals. */
const toShellLine = (text: string): string => (/^exec\s|[;&|<>()`$\n]/.test(text) ? `{ ${text}; }` : `exec ${text}`)

function dropInit(argv: readonly string[]): readonly string[] {
  const [program = '', ...rest] = argv
  if (!INITS.has(posix.basename(program))) return argv
  const dashes = rest.indexOf('--')
  if (dashes !== -1) return rest.slice(dashes + 1)
  const start = rest.findIndex(word => !word.startsWith('-'))
  return start === -1 ? [] : rest.slice(start)
}

/** Plain words stay as they are, for who reads the command. */
const toWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quote(text))

/** The sandbox's shell knows the image's variables. */
const quoteDirectory = (path: string): string => (path.includes('$') ? `"${path}"` : toWord(path))
