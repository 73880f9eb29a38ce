/** Loads and uses what is not JavaScript in the dependencies: a database is written, a terminal opened, a file locked. Prints what it has used. */
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = await mkdtemp(join(tmpdir(), 'troupe-addons-'))
try {
  await useDatabase()
  await useTerminal()
  await useLocks()
  console.log(`lmdb, node-pty, fs-native-extensions (ABI ${process.versions.modules})`)
} finally {
  await rm(directory, { recursive: true })
}

async function useDatabase() {
  const { open } = await import('lmdb')
  const database = open({ path: join(directory, 'db') })
  await database.put('key', { value: 1 })
  if (database.get('key')?.value !== 1) throw new Error('lmdb does not give back what was put')
  await database.close()
}

async function useTerminal() {
  const { spawn } = await import('@lydell/node-pty')
  const terminal = spawn('/bin/sh', ['-c', 'tty'], { cwd: directory })
  let seen = ''
  terminal.onData(text => {
    seen += text
  })
  const { exitCode } = await new Promise(resolve => terminal.onExit(resolve))
  if (exitCode !== 0 || !seen.includes('/dev/')) throw new Error(`no terminal: exit ${exitCode}, ${seen}`)
}

async function useLocks() {
  const { default: locks } = await import('fs-native-extensions')
  const path = join(directory, 'locked')
  const [one, other] = [await open(path, 'w'), await open(path, 'w')]
  try {
    if (!locks.tryLock(one.fd, 0, 1)) throw new Error('a file that nobody has locked cannot be locked')
    if (locks.tryLock(other.fd, 0, 1)) throw new Error('a locked file can be locked again')
  } finally {
    await one.close()
    await other.close()
  }
}
