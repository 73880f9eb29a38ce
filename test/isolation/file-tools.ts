import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { toolsByName } from '../../src/agents/chat/tools/index.ts'
import type { Shell } from '../../src/wire/shell.ts'
import { MARK, type Places } from './places.ts'

/** What the file tools, which run on the host's side, may be talked into by what a command left in the workspace. */
export interface FileAttempt {
  readonly what: string
  /** Run before, in the shell. */
  readonly prepare: (places: Places) => string
  readonly calls: (places: Places) => readonly Call[]
}

export type Call = readonly [tool: 'read' | 'write' | 'edit', filePath: string]

const both = (path: string): readonly Call[] => [
  ['read', path],
  ['edit', path],
  ['write', path],
]

export const fileTools: readonly FileAttempt[] = [
  {
    what: 'a link to a file of the host',
    prepare: ({ secretFile }) => `ln -s ${secretFile} link`,
    calls: () => both('link'),
  },
  {
    what: 'a link to a directory of the host, in the middle of a path',
    prepare: ({ directory }) => `mkdir -p deep; ln -s ${directory} deep/link`,
    calls: () => [...both('deep/link/secret.txt'), ['write', 'deep/link/written']],
  },
  {
    what: 'a link to nothing yet',
    prepare: ({ written }) => `ln -s ${written} dangling`,
    calls: () => both('dangling'),
  },
  {
    what: 'a link to a link, and a link upwards',
    prepare: ({ directory }) => `ln -s / root; ln -s root${directory} chain; ln -s .. up`,
    calls: ({ theirs }) => [
      ...both('chain/secret.txt'),
      ...both('up/secret.txt'),
      ...both(`up/${theirs.split('/').at(-1)}/secret.txt`),
    ],
  },
  {
    what: 'links of /proc, which lead where the host is',
    prepare: ({ secretFile }) =>
      `ln -s /proc/self/root${secretFile} proc; ln -s /proc/self/environ environ; ln -s /proc/self/cwd cwd`,
    calls: ({ secretFile }) => [
      ...both('proc'),
      ['read', 'environ'],
      ['read', 'cwd/package.json'],
      ['read', '/proc/self/environ'],
      ['read', `/proc/self/root${secretFile}`],
    ],
  },
  {
    what: 'paths that lead out of the workspace',
    prepare: () => 'mkdir -p a/b',
    calls: ({ secretFile, theirs }) => [
      ...both(secretFile),
      ...both(`${theirs}/secret.txt`),
      ...both(`../${theirs.split('/').at(-1)}/secret.txt`),
      ...both(`/workspace/../../../../../../..${secretFile}`),
      ...both(`a/b/../../../../../../../..${secretFile}`),
      ...both(`//workspace/..//..${secretFile}`),
      ['read', '/etc/passwd'],
      ['read', '/etc/shadow'],
    ],
  },
  {
    what: 'a second name of a file that is not the agent’s',
    prepare: ({ secretFile }) => `ln ${secretFile} second; ln /etc/passwd second; ln /proc/1/environ second`,
    calls: () => both('second').slice(0, 2),
  },
  {
    what: 'pipes and sockets, which would keep the host waiting',
    prepare: () => `mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'`,
    calls: () => [...both('pipe'), ...both('sock')],
  },
]

/** Calls one tool as a model would; what the model is then shown. */
export async function callTool(shell: Shell, [name, filePath]: Call): Promise<string> {
  const tool = toolsByName().get(name)
  const given = { filePath, content: 'mine', oldString: 'do-not-tell', newString: 'mine' }
  const { signal } = new AbortController()
  return (await tool?.run(given, { shell, signal }))?.text ?? ''
}

/** What of the host has been told or changed, by name. */
export function toldOrChanged(shown: readonly string[], { secretFile, written, theirs }: Places): readonly string[] {
  const isWhole = (file: string) => existsSync(file) && readFileSync(file, 'utf8').includes(MARK)
  return [
    ...shown.filter(text => text.includes(MARK) || /^root:|"troupe"/m.test(text)).map(() => 'a secret was told'),
    ...(isWhole(secretFile) ? [] : ['a file of the host was changed']),
    ...(isWhole(`${theirs}/secret.txt`) ? [] : ['a neighbour’s file was changed']),
    ...(existsSync(written) || existsSync(`${dirname(theirs)}/secret.txt`) ? ['a file was made outside'] : []),
  ]
}

/** Exchanges a directory with a link out of the workspace, as fast as it can, until it is killed. 2: RENAME_EXCHANGE. */
export const swapping = ({
  directory,
}: Places): string => `mkdir swap; ln -s ${directory} away; echo mine > swap/secret.txt
exec /usr/bin/python3 -c "
import ctypes
libc = ctypes.CDLL(None)
while libc.renameat2(-100, b'swap', -100, b'away', 2) == 0: pass
"`
