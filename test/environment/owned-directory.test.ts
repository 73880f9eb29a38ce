import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { markOwned, removeAbandoned } from '../../src/environment/owned-directory.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('owned directories')

test('only what dead processes of this machine marked is removed', () =>
  withFiles({}, async parent => {
    const make = async (name: string, ...lines: string[]) => {
      await mkdir(join(parent, name))
      if (lines.length > 0) writeFileSync(join(parent, name, 'owners'), `${lines.join('\n')}\n`)
    }
    await make('x-live')
    markOwned(join(parent, 'x-live'), 0)
    const alive = readFileSync(join(parent, 'x-live', 'owners'), 'utf8').trim()
    const mark: Record<string, unknown> = JSON.parse(alive)
    const ended = spawnSync('/bin/true').pid
    const dead = JSON.stringify({ ...mark, pid: ended })
    await make('x-dead', dead)
    await make('x-pid-used-again', JSON.stringify({ ...mark, processStart: `${mark.processStart}0` }))
    await make('x-half-dead', dead, alive)
    await make('x-other-namespace', JSON.stringify({ ...mark, pid: ended, namespace: 'pid:[1]' }))
    await make('x-other-boot', JSON.stringify({ ...mark, pid: ended, processStart: 'other/1' }))
    await make('x-half-written', dead.slice(0, 20))
    await make('x-unmarked')
    await make('y-dead', dead)
    await removeAbandoned(parent, 'x-')
    assert.equal(readdirSync(parent).sort(), [
      'x-half-dead',
      'x-half-written',
      'x-live',
      'x-other-boot',
      'x-other-namespace',
      'x-unmarked',
      'y-dead',
    ])
  }))

test.run()
