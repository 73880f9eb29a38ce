import { posix } from 'node:path'
import {
  type Dockerfile,
  DockerfileParser,
  type Instruction,
  Keyword,
  type ModifiableInstruction,
} from 'dockerfile-ast'
import { dockerfileInvalid } from './errors.ts'

/** One source of a `COPY` or an `ADD` that is to come from the build context; not another stage's, a URL or a heredoc. */
export interface CopySource {
  readonly instruction: 'COPY' | 'ADD'
  /** As written. */
  readonly path: string
  /** From 1. */
  readonly line: number
}

/** `argv` of the JSON form, or the text that a shell reads. */
export type CommandForm = { readonly argv: readonly string[] } | { readonly shell: string }

/** What of the last stage, with what it has from stages it is built on, decides how a container starts. */
export interface LastStage {
  /** Absolute; undefined when it is the base image's. May hold a variable that only the image knows. */
  readonly workdir: string | undefined
  readonly entrypoint: CommandForm | undefined
  readonly cmd: CommandForm | undefined
}

export interface ParsedDockerfile {
  readonly sources: readonly CopySource[]
  readonly last: LastStage
}

const KEYWORDS: ReadonlySet<string> = new Set(Object.values(Keyword))

/** Reads a Dockerfile as far as is needed before it is sent away. `address` names it in errors. Throws `dockerfile-invalid`. */
export function parseDockerfile(text: string, address: string): ParsedDockerfile {
  const dockerfile = DockerfileParser.parse(text)
  const instructions = dockerfile.getInstructions()
  const unknown = instructions.find(each => !KEYWORDS.has(each.getKeyword()))
  if (unknown !== undefined)
    throw dockerfileInvalid(address, toLine(unknown), `${unknown.getInstruction()} is no instruction`)
  const first = instructions.find(each => each.getKeyword() !== Keyword.ARG)
  if (first === undefined) throw dockerfileInvalid(address, 1, 'it has no instruction')
  if (first.getKeyword() !== Keyword.FROM)
    throw dockerfileInvalid(address, toLine(first), `${first.getKeyword()} comes before the first FROM`)
  return { sources: findSources(dockerfile), last: findLastStage(instructions) }
}

const toLine = (instruction: Instruction): number => instruction.getRange().start.line + 1

function findSources(dockerfile: Dockerfile): readonly CopySource[] {
  return dockerfile.getInstructions().flatMap(each => {
    const instruction = each.getKeyword()
    if ((instruction !== Keyword.COPY && instruction !== Keyword.ADD) || !hasFlags(each)) return []
    if (each.getFlags().some(flag => flag.getName() === 'from')) return []
    const content = each.getArgumentsContent() ?? ''
    if (content.includes('<<')) return []
    const paths = parseJsonForm(content) ?? each.getArguments().map(argument => argument.getValue())
    return paths
      .slice(0, -1)
      .filter(path => instruction === Keyword.COPY || !/^(https?:\/\/|git@|ssh:\/\/)/.test(path))
      .map(path => ({ instruction, path, line: toLine(each) }))
  })
}

const hasFlags = (instruction: Instruction): instruction is ModifiableInstruction => 'getFlags' in instruction

interface Stage extends LastStage {
  readonly name: string | undefined
}

function findLastStage(instructions: readonly Instruction[]): LastStage {
  const stages = new Map<string, Stage>()
  let stage: Stage = { name: undefined, workdir: undefined, entrypoint: undefined, cmd: undefined }
  let inheritedCmd = false
  for (const each of instructions) {
    const words = each.getExpandedArguments().map(argument => argument.getValue())
    switch (each.getKeyword()) {
      case Keyword.FROM: {
        const [base = '', as, name] = words.filter(word => !word.startsWith('--'))
        const inherited = stages.get(base.toLowerCase())
        stage = {
          workdir: inherited?.workdir,
          entrypoint: inherited?.entrypoint,
          cmd: inherited?.cmd,
          name: as?.toLowerCase() === 'as' ? name?.toLowerCase() : undefined,
        }
        inheritedCmd = true
        break
      }
      case Keyword.WORKDIR:
        stage = { ...stage, workdir: toWorkdir(stage.workdir, words[0] ?? '') }
        break
      case Keyword.CMD:
        stage = { ...stage, cmd: toForm(each) }
        inheritedCmd = false
        break
      case Keyword.ENTRYPOINT:
        // An entry point of its own makes a stage forget the command of what it is built on.
        stage = { ...stage, entrypoint: toForm(each), cmd: inheritedCmd ? undefined : stage.cmd }
        break
    }
    if (stage.name !== undefined) stages.set(stage.name, stage)
  }
  return stage
}

/** A path that begins with a variable which the Dockerfile does not set may be absolute: only the sandbox can tell. */
const toWorkdir = (before: string | undefined, path: string): string =>
  path.startsWith('$') ? path : posix.resolve(before ?? '/', path)

function toForm(instruction: Instruction): CommandForm | undefined {
  const argv = parseJsonForm(instruction.getArgumentsContent() ?? '')
  if (argv !== undefined) return argv.length === 0 ? undefined : { argv }
  const shell = (instruction.getRawArgumentsContent() ?? '')
    .split('\n')
    .filter(line => !line.trimStart().startsWith('#'))
    .map(line => line.replace(/[\\`]\s*$/, '').trim())
    .join(' ')
  return shell === '' ? undefined : { shell }
}

/** What looks like a JSON list and is none is read as words, as builders do. The parser's own reading of it loses spaces. */
function parseJsonForm(content: string): readonly string[] | undefined {
  if (!content.trimStart().startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(content)
    return Array.isArray(value) && value.every(each => typeof each === 'string') ? value : undefined
  } catch {
    return undefined
  }
}
