import { posix } from 'node:path'

export interface BuildInfo {
  readonly dockerfileContent: string
  readonly contextHashes: readonly string[]
}

/** The paths in a pushed context; undefined when it was never pushed. */
export type EntriesOf = (hash: string) => readonly string[] | undefined

/** Where a build ends, and why. */
export interface BuildProblem {
  readonly step: string
  readonly reason: string
}

/** The instructions of a Dockerfile, with continued lines joined. */
export function toSteps(dockerfile: string): readonly string[] {
  const joined = dockerfile.replace(/^\s*#.*\n?/gm, '').replace(/\\\s*\n\s*/g, ' ')
  return joined
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

const INSTRUCTION =
  /^(FROM|RUN|CMD|LABEL|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG|ONBUILD|STOPSIGNAL|HEALTHCHECK|SHELL|MAINTAINER)\s/i

/** What a builder would stumble over without running anything. */
export function findProblem(
  buildInfo: BuildInfo | undefined,
  steps: readonly string[],
  entriesOf: EntriesOf,
): BuildProblem | undefined {
  const unknown = steps.find(step => !INSTRUCTION.test(step))
  if (unknown !== undefined) return { step: unknown, reason: `unknown instruction: ${unknown.split(' ')[0]}` }
  const first = steps.find(step => !/^ARG\s/i.test(step)) ?? ''
  if (!/^FROM\s/i.test(first)) return { step: first, reason: 'no build stage in current context' }
  if (buildInfo === undefined) return undefined
  const entries = new Set<string>()
  for (const hash of buildInfo.contextHashes) {
    const pushed = entriesOf(hash)
    if (pushed === undefined) return { step: first, reason: `build context ${hash} was never uploaded` }
    for (const entry of pushed) entries.add(posix.normalize(entry))
  }
  for (const step of steps) {
    const missing = toSources(step).find(source => !isIn(entries, source))
    if (missing !== undefined) return { step, reason: `${step}: ${missing}: file not found in the build context` }
  }
  return undefined
}

/** What an instruction takes from the context: not from another stage, the network or its own text. */
function toSources(step: string): readonly string[] {
  const [, rest = ''] = /^(?:COPY|ADD)\s+(.*)$/i.exec(step) ?? []
  const paths = rest.replace(/^(--\S+\s+)*/, '')
  if (paths === '' || /^(--\S+\s+)*--from=/.test(rest) || paths.includes('<<')) return []
  return toList(paths)
    .slice(0, -1)
    .filter(path => !/^(https?:|git@|ssh:)/.test(path) && !path.includes('$'))
}

function toList(paths: string): readonly string[] {
  if (!paths.startsWith('[')) return paths.split(/\s+/)
  try {
    const list: unknown = JSON.parse(paths)
    return Array.isArray(list) ? list.map(String) : []
  } catch {
    // No list after all: builders read it as words.
    return paths.split(/\s+/)
  }
}

function isIn(entries: ReadonlySet<string>, source: string): boolean {
  const path = posix.normalize(source).replace(/^\/+|\/+$/g, '')
  if (path === '' || path === '.') return entries.size > 0
  if (entries.has(path)) return true
  const pattern = path
    .replace(/[.+^${}()|\\]/g, String.raw`\$&`)
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
  const matches = new RegExp(`^${pattern}(/|$)`)
  return [...entries].some(entry => matches.test(entry))
}
