import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../../support/source-imports.ts'

const run = promisify(execFile)

/** What `deploy/nats/make-keys.mjs` has made: paths, and the public keys for a server's environment. */
export interface Keys {
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly nkeys: Readonly<Record<'coordinator' | 'worker' | 'observer', string>>
  readonly variables: Readonly<Record<string, string>>
}

/** For a server on 127.0.0.1. The directory must not be there yet. */
export async function makeKeys(directory: string): Promise<Keys> {
  await run(process.execPath, [join(repository, 'deploy/nats/make-keys.mjs'), directory, 'nats'])
  const lines = (await readFile(join(directory, 'public.env'), 'utf8')).trim().split('\n')
  const at = (name: string) => join(directory, name)
  return {
    ca: at('ca.crt'),
    cert: at('tls.crt'),
    key: at('tls.key'),
    nkeys: { coordinator: at('coordinator.nk'), worker: at('worker.nk'), observer: at('observer.nk') },
    variables: Object.fromEntries(lines.map(line => [line.split('=')[0] ?? '', line.split('=')[1] ?? ''])),
  }
}
