import { posix } from 'node:path'
import { quote } from '../quote.ts'
import { refused } from './errors.ts'
import { HOME, type Space } from './space.ts'

export interface FileInfo {
  readonly name: string
  readonly path: string
  readonly isDir: boolean
  readonly size: number
  readonly mode: string
  readonly permissions: string
  readonly owner: string
  readonly group: string
  readonly modTime: string
  readonly modifiedAt: string
}

const MAX_FILE_BYTES = 48 * 1024 * 1024
const FORMAT = String.raw`%y\t%s\t%T@\t%m\t%u\t%g\t%p\0`

/** Every access to a sandbox's files is a command in it: what links there point to is the sandbox's, never the machine's. */
export const files = {
  async read(space: Space, path: string): Promise<Buffer> {
    const place = toPlace(path)
    const text = await run(space, place, `base64 -w0 -- ${quote(place)}`, (MAX_FILE_BYTES * 4) / 3 + 4)
    return Buffer.from(text, 'base64')
  },
  async write(space: Space, path: string, content: Buffer): Promise<void> {
    const place = toPlace(path)
    const command = `mkdir -p -- ${quote(posix.dirname(place))} && cat > ${quote(place)}`
    await run(space, place, command, undefined, content)
  },
  async remove(space: Space, path: string, recursive: boolean): Promise<void> {
    const place = toPlace(path)
    await run(space, place, `rm ${recursive ? '-r ' : ''}-- ${quote(place)}`)
  },
  async makeFolder(space: Space, path: string, mode: string): Promise<void> {
    if (!/^[0-7]{3,4}$/.test(mode)) throw refused(400, `mode ${mode}: write it in octal, for instance 755`)
    const place = toPlace(path)
    await run(space, place, `mkdir -p -m ${mode} -- ${quote(place)}`)
  },
  async list(space: Space, path: string, depth: number): Promise<readonly FileInfo[]> {
    const place = toPlace(path)
    return toInfos(
      await run(space, place, `find ${quote(`${place}/`)} -mindepth 1 -maxdepth ${depth} -printf ${quote(FORMAT)}`),
    )
  },
  async info(space: Space, path: string): Promise<FileInfo> {
    const place = toPlace(path)
    const [info] = toInfos(await run(space, place, `find ${quote(place)} -maxdepth 0 -printf ${quote(FORMAT)}`))
    if (info === undefined) throw refused(404, `file not found: ${path}`)
    return info
  },
}

/** Only one directory of a sandbox outlives a command here, so only that one is offered. */
function toPlace(path: string): string {
  const place = posix.resolve(HOME, path.replace(/^~(?=\/|$)/, HOME))
  if (place !== HOME && !place.startsWith(`${HOME}/`))
    throw refused(400, `${path}: the emulator keeps files under ${HOME} only`)
  return place
}

async function run(
  space: Space,
  path: string,
  command: string,
  maxOutputBytes?: number,
  stdin?: Buffer,
): Promise<string> {
  const { exitCode, stdout, stderr } = await space.exec({
    command,
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
    ...(stdin === undefined ? {} : { stdin }),
  })
  if (exitCode === 0) return stdout
  throw /No such file/.test(stderr)
    ? refused(404, `file not found: ${path}`)
    : refused(400, `${path}: ${stderr.trim()}`)
}

function toInfos(text: string): readonly FileInfo[] {
  return text
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [kind = '', size, seconds, mode = '', owner = '', group = '', path = ''] = line.split('\t')
      const modTime = new Date(Number(seconds) * 1000).toISOString()
      const clean = posix.normalize(path)
      return {
        name: posix.basename(clean),
        path: clean,
        isDir: kind === 'd',
        size: Number(size),
        mode,
        permissions: mode.padStart(4, '0'),
        owner,
        group,
        modTime,
        modifiedAt: modTime,
      }
    })
}
