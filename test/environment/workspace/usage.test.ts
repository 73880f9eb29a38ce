import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { diskUsageOf } from '../../../src/environment/workspace/disk-usage.ts'
import { deletedBytes, familyOf, memoryOf } from '../../../src/environment/workspace/process-usage.ts'
import { watchUsage } from '../../../src/environment/workspace/usage-watch.ts'
import { suite } from '../../support/suite.ts'
import { openWorkspace } from './open-workspace.ts'

const test = suite('what a workspace uses')
const KIB = 1024
const ENDLESS = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY }

let directory = ''
test.beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'troupe-usage-'))
})
test.afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('files count by what they take up, directories and links by their number, and links are not followed', async () => {
  mkdirSync(join(directory, 'a', 'b'), { recursive: true })
  writeFileSync(join(directory, 'a', 'b', 'file'), Buffer.alloc(100 * KIB, 1))
  symlinkSync('/usr', join(directory, 'link'))
  const { bytes, files } = await diskUsageOf(directory, ENDLESS)
  assert.is(files, 4)
  assert.ok(bytes >= 100 * KIB && bytes < 200 * KIB, String(bytes))
})

test('counting stops once it is too much', async () => {
  for (let number = 0; number < 50; number += 1)
    writeFileSync(join(directory, String(number)), Buffer.alloc(8 * KIB, 1))
  assert.is((await diskUsageOf(directory, { bytes: Number.POSITIVE_INFINITY, files: 10 })).files, 11)
  assert.ok((await diskUsageOf(directory, { bytes: 20 * KIB, files: 100 })).files < 10)
})

test('a tree deeper than a path can be long hides nothing', async () => {
  const { workspace, closeHost } = await openWorkspace()
  try {
    await workspace.exec(
      'd=$(printf "%0200d" 0); for i in $(seq 40); do mkdir $d && cd $d || exit 1; done; head -c 300000 /dev/urandom > deep',
    )
    const { bytes, files } = await diskUsageOf(workspace.directory, ENDLESS)
    assert.ok(bytes >= 300_000 && bytes < 2_000_000, String(bytes))
    assert.ok(files >= 41 && files <= 42, String(files))
  } finally {
    await closeHost()
  }
})

test('a file without a name counts as long as it is open', () => {
  const path = join(directory, 'gone')
  const descriptor = openSync(path, 'w')
  try {
    unlinkSync(path)
    writeSync(descriptor, Buffer.alloc(512 * KIB, 1))
    const { dev } = statSync(directory)
    assert.ok(deletedBytes([process.pid], dev) >= 512 * KIB)
  } finally {
    closeSync(descriptor)
  }
  assert.ok(deletedBytes([process.pid], statSync(directory).dev) < 512 * KIB)
})

test('a family is a process and all below it, and shared pages count once where it matters', async () => {
  assert.ok(familyOf(process.pid).includes(process.pid))
  assert.ok(memoryOf([process.pid], Number.POSITIVE_INFINITY) > 10 * KIB * KIB)
  // This process shares its program with the one that started it.
  const [whole, part] = [memoryOf([process.pid], Number.POSITIVE_INFINITY), memoryOf([process.pid], 1)]
  assert.ok(part > 0 && part < 0.95 * whole, `${part} of ${whole}`)
  assert.is(memoryOf([2 ** 30], 1), 0)
})

test('a watch looks once after a short command, again while one runs, and not any more when it is closed', async () => {
  const timers: { readonly wake: () => void; readonly delayMs: number }[] = []
  const clock = {
    now: () => 0,
    wallTime: () => 0,
    after(delayMs: number, wake: () => void) {
      timers.push({ wake, delayMs })
      return () => {}
    },
  }
  const limits = { memoryBytes: KIB ** 3, diskBytes: 64 * KIB }
  const watch = watchUsage(directory, limits, clock)
  assert.is(timers.length, 0, 'nothing runs, nothing is looked at')
  const reasons: string[] = []
  let end = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  watch.add({ pid: 2 ** 30, ended, killFor: why => void reasons.push(why) })
  assert.is(timers.length, 1)
  timers[0]?.wake()
  await turns(() => timers.length === 2)
  assert.is(watch.full(), undefined)
  writeFileSync(join(directory, 'big'), Buffer.alloc(100 * KIB, 1))
  timers[1]?.wake()
  await turns(() => timers.length === 3)
  assert.match(String(watch.full()), 'the workspace holds more than')
  assert.match(String(reasons[0]), 'ended: the workspace holds more than')
  end()
  await ended
  timers[2]?.wake()
  await turns(async () => (await diskUsageOf(directory, ENDLESS)).files === 1)
  watch.close()
  watch.add({ pid: 2 ** 30, ended, killFor: () => {} })
  assert.is(timers.length, 3)
})

/** Until it holds, while the file system answers. */
async function turns(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setImmediate(resolve))
}

test.run()
