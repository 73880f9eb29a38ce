import { accessSync, constants, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { SystemView } from './bubblewrap.ts'
import { bwrapMissing } from './errors.ts'
import { inheritedDescriptors } from './inherited-descriptors.ts'
import { syscallFilter } from './syscall-filter.ts'

const TOP_LEVEL = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Never whole `/etc`: what an interpreter, a compiler's alternatives and TLS clients read, none of it private. */
const ETC = [
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/localtime',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/ca-certificates',
]

const GENERATED_ETC: Readonly<Record<string, string>> = {
  passwd: 'agent:x:1000:1000:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  group: 'agent:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost workspace\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

/** Looks at this machine; writes the generated files into `etcDirectory`. Throws `bwrap-missing`. */
export async function readSystemView(etcDirectory: string): Promise<SystemView> {
  const bwrap = findProgram('bwrap')
  if (bwrap === undefined) throw bwrapMissing()
  const links: { path: string; target: string }[] = []
  const directories = ['/usr']
  for (const path of TOP_LEVEL) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) links.push({ path, target: readlinkSync(path) })
    else if (stats?.isDirectory()) directories.push(path)
  }
  const generatedEtc = Object.entries(GENERATED_ETC).map(([name, text]) => {
    return { name, source: join(etcDirectory, name), text }
  })
  await Promise.all(generatedEtc.map(({ source, text }) => writeFile(source, text, { mode: 0o644 })))
  const filter = syscallFilter()
  const filterFile = join(etcDirectory, 'syscall-filter')
  if (filter !== undefined) await writeFile(filterFile, filter, { mode: 0o644 })
  const python = readdirSync('/etc').filter(name => name.startsWith('python3'))
  return {
    bwrap,
    links,
    directories,
    etc: [...ETC, ...python.map(name => `/etc/${name}`)],
    generatedEtc: generatedEtc.map(({ name, source }) => ({ name, source })),
    disableUserns: true,
    filter: filter === undefined ? undefined : filterFile,
    inherited: inheritedDescriptors(),
  }
}

/** The first executable of that name on this process's PATH. */
export function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter(directory => directory.startsWith('/'))
    .map(directory => join(directory, name))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false // not here: the next directory may have it
      }
    })
}
