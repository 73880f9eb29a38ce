import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar'

export interface StandInImage {
  readonly id: string
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  /** What its `/app` is. Absent: an empty folder for each container. */
  readonly root?: string
  readonly labels?: Readonly<Record<string, string>>
}

export function imageOf(...cmd: readonly string[]): StandInImage {
  return { id: toId(JSON.stringify(cmd)), entrypoint: [], cmd }
}

/** What came of a build: the lines that are told, then the image or what went wrong. */
export interface Built {
  readonly lines: readonly string[]
  readonly result: StandInImage | { readonly error: string }
  /** Files and links that were sent. */
  readonly sent: readonly string[]
}

/** Unpacks what is sent and reads the Dockerfile in it: `COPY` must find its sources, and the last `CMD` is what a container runs. */
export async function build(request: IncomingMessage, directory: string, query: URLSearchParams): Promise<Built> {
  await mkdir(directory, { recursive: true })
  await pipeline(request, extract({ cwd: directory }))
  const files = listFiles(directory)
  const sent = files.map(file => describe(directory, file))
  const path = join(directory, query.get('dockerfile') ?? 'Dockerfile')
  if (!existsSync(path)) return { lines: [], result: { error: `Cannot locate specified Dockerfile: ${path}` }, sent }
  const steps = readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => /^[A-Z]+ /.test(line))
  const lines: string[] = []
  for (const [at, step] of steps.entries()) {
    lines.push(`Step ${at + 1}/${steps.length} : ${step}`)
    const missing = toSources(step).find(source => !existsSync(join(directory, source)))
    if (missing !== undefined)
      return { lines, result: { error: `COPY failed: file not found in build context: stat ${missing}` }, sent }
    if (step.startsWith('RUN fail'))
      return { lines: [...lines, 'about to fail'], result: { error: 'RUN returned 1' }, sent }
    if (step.includes('--mount')) return { lines, result: { error: 'the --mount option requires BuildKit' }, sent }
  }
  const cmd = steps.findLast(step => step.startsWith('CMD '))?.slice(4)
  const labels = JSON.parse(query.get('labels') ?? '{}')
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(read(join(directory, file)))
  const image = { id: `sha256:${hash.digest('hex')}`, entrypoint: [], cmd: toWords(cmd), root: directory, labels }
  return { lines, result: image, sent }
}

function toSources(step: string): readonly string[] {
  if (!step.startsWith('COPY ') || step.includes('--from')) return []
  return step
    .split(/\s+/)
    .slice(1, -1)
    .filter(word => !/^--|[*$]/.test(word))
}

function toWords(cmd: string | undefined): readonly string[] {
  if (cmd === undefined) return []
  return cmd.startsWith('[') ? JSON.parse(cmd) : ['/bin/sh', '-c', cmd]
}

/** Where a link leads, and what is in anything else. */
function read(path: string): string | Buffer {
  return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path)
}

/** `link -> target` for links. */
function describe(directory: string, file: string): string {
  const path = join(directory, file)
  return lstatSync(path).isSymbolicLink() ? `${file} -> ${readlinkSync(path)}` : file
}

function listFiles(directory: string, folder = ''): readonly string[] {
  return readdirSync(join(directory, folder))
    .sort()
    .flatMap(name => {
      const path = join(folder, name)
      return lstatSync(join(directory, path)).isDirectory() ? listFiles(directory, path) : [path]
    })
}

const toId = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
