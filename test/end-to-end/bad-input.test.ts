import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { suite } from '../support/suite.ts'
import { repository, type Scene, withScene } from './scene.ts'

const test = suite('bad input, end to end')

async function refuse(scene: Scene, argv: readonly string[], messages: readonly string[], path?: string) {
  const { exit, stdout, stderr } = await scene.run(argv, path === undefined ? {} : { PATH: path })
  assert.equal([exit, stdout], [2, ''], stderr)
  for (const message of messages) assert.ok(stderr.includes(message), `no "${message}" in: ${stderr}`)
  assert.equal(scene.starts(), [])
  assert.equal(scene.leftovers(), [])
}

test('what the environment refuses is told at once for all tasks, and no job is begun', () =>
  withScene(async scene => {
    const rows = [
      { env: 'calc', id: 'fix_calc', args: { variant: -1 }, slug: 'low' },
      { env: 'calc', id: 'fix_calc', args: { variant: 'x', extra: 1 }, slug: 'odd' },
      { env: 'calc', id: 'mend', args: {}, slug: 'unknown' },
      { env: 'calc', id: 'fix_calc', args: { variant: 1 }, slug: 'good' },
    ]
    await writeFile(join(scene.directory, 'tasks.jsonl'), rows.map(row => JSON.stringify(row)).join('\n'))
    const env = join(repository, 'environments/calc/env.ts')
    await refuse(
      scene,
      ['eval', 'tasks.jsonl', 'agent.mjs', '--all', '--env', env],
      [
        'refuses 4 tasks',
        'low: variant: ',
        'odd: variant: ',
        'odd: extra: no such argument; there is variant',
        'unknown: unknown template "mend"',
      ],
    )
    assert.not(existsSync(scene.journal))
  }))

test('bubblewrap that is missing or unusable is named with what to do', () =>
  withScene(async scene => {
    const path = join(scene.directory, 'bin')
    await mkdir(path)
    const install = 'bubblewrap (bwrap) is not on PATH: install it with "apt-get install -y bubblewrap"'
    await refuse(scene, scene.notes({}), [install, '--unsafe-no-isolation'], path)
    const script = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n'
    await writeFile(join(path, 'bwrap'), script, { mode: 0o755 })
    const allow = 'allow user namespaces with "sysctl -w'
    const messages = ['bubblewrap cannot isolate commands here (bwrap: setting up uid map', allow]
    await refuse(scene, scene.notes({}), messages, `${path}:/usr/bin:/bin`)
    assert.not(existsSync(scene.journal))
  }))

test('a port in use is named', () =>
  withScene(async scene => {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    try {
      await refuse(scene, ['serve', 'env.ts', '--port', String(port)], [String(port), 'in use'])
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  }))

test('a journal that another process holds is named with that process', () =>
  withScene(async scene => {
    const journal = await openLmdbJournal({ directory: scene.journal, clock: systemClock, role: 'owner' })
    try {
      await refuse(scene, scene.notes({}), [`.troupe/journal is held by process ${process.pid}`])
      assert.equal(await journal.jobs(), [])
    } finally {
      await journal.close()
    }
  }))

test.run()
