import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { open } from 'lmdb'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { hasTag } from '../../src/errors.ts'
import { toJobId } from '../../src/ids.ts'
import { encode, type RunKey, toRunKey } from '../../src/journal/codec.ts'
import { type LmdbJournal, openLmdbJournal } from '../../src/journal/index.ts'
import { rejectsWith } from '../contracts/journal.ts'
import { suite } from '../support/suite.ts'
import { collect, makeGroupRecord, makeHeader } from './fixtures.ts'
import { withDirectory } from './temporary.ts'

const test = suite('lmdb journal')

const PAGE_BYTES = 4_096
const CUTS = 12

const openIn = (
  directory: string,
  more: { readonly readOnly?: boolean; readonly role?: 'thread'; readonly minFreeBytes?: number } = {},
) => openLmdbJournal({ directory, clock: systemClock, role: 'owner', ...more })

const inJournal = (body: (directory: string, journal: LmdbJournal) => Promise<void>) => () =>
  withDirectory(async directory => {
    const journal = await openIn(directory)
    try {
      await body(directory, journal)
    } finally {
      await journal.close()
    }
  })

/** Another process that writes runs until so many were acknowledged, and is then killed; which they were. */
async function writeUntilKilled(directory: string, count: number): Promise<readonly number[]> {
  const child = fork(fileURLToPath(new URL('./writer.js', import.meta.url)), [directory])
  const acknowledged: number[] = []
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    child.on('message', index => {
      acknowledged.push(Number(index))
      if (acknowledged.length === count) resolve()
    })
    exited.then(() => reject(new Error('the writer ended by itself')))
  })
  const held = await rejectsWith('journal-held', openIn(directory))
  assert.match(held.message, `process ${child.pid}`)
  child.kill('SIGKILL')
  await exited
  return acknowledged
}

test('every run that was acknowledged is there after kill -9, and the dead owner is taken over', () =>
  withDirectory(async directory => {
    const acknowledged = await writeUntilKilled(directory, 100)
    const journal = await openIn(directory)
    try {
      for (const index of acknowledged) {
        const found = await journal.run(makeHeader({ index }).runId)
        assert.is(found?.trajectory.byteLength, 75_000)
        assert.is(found?.trajectory[74_999], index % 251)
      }
      assert.ok((await collect(journal.runs(toJobId('job-1')))).length >= acknowledged.length)
    } finally {
      await journal.close()
    }
  }))

test(
  'two threads write at once into the journal that the main thread holds',
  inJournal(async (directory, journal) => {
    const threads = [1, 2].map(
      step =>
        new Worker(new URL('./writer-thread.js', import.meta.url), { workerData: { directory, step, count: 200 } }),
    )
    await Promise.all(threads.map(thread => once(thread, 'exit')))
    const runs = await collect(journal.runs(toJobId('job-1')))
    assert.is(runs.length, 401)
    const raced = await journal.run(makeHeader({ step: 0, index: 0 }).runId)
    assert.is(raced?.header.seed, raced?.trajectory[0])
    for (const { runId, step } of runs.slice(1)) assert.is((await journal.run(runId))?.trajectory[9_999], step)
    await journal.putRun(makeHeader({ step: 9 }), new Uint8Array(1))
  }),
)

test(
  'a thread in the main thread shares the journal and gives nothing up',
  inJournal(async (directory, journal) => {
    const thread = await openIn(directory, { role: 'thread' })
    await thread.putRun(makeHeader(), Uint8Array.of(1))
    assert.ok(await journal.run(makeHeader().runId))
    await thread.close()
    await journal.putRun(makeHeader({ index: 1 }), Uint8Array.of(1))
    await rejectsWith('journal-held', openIn(directory))
  }),
)

test(
  'two journals of one process on one directory are refused, until the first is closed',
  inJournal(async (directory, journal) => {
    const held = await rejectsWith('journal-held', openIn(directory))
    assert.match(held.message, 'this process')
    await journal.putRun(makeHeader(), Uint8Array.of(1))
    await journal.close()
    const next = await openIn(directory)
    assert.ok(await next.run(makeHeader().runId))
    await next.close()
  }),
)

test(
  'a reader looks on beside the owner, sees what comes, and cannot write',
  inJournal(async (directory, journal) => {
    const reader = await openIn(directory, { readOnly: true })
    assert.is(await reader.run(makeHeader().runId), undefined)
    await journal.putRun(makeHeader(), Uint8Array.of(1))
    assert.ok(await reader.run(makeHeader().runId))
    await rejectsWith('journal-read-only', reader.putRun(makeHeader(), Uint8Array.of(1)))
    await reader.close()
    await rejectsWith('journal-held', openIn(directory))
  }),
)

test('a recycled pid is not the owner', () =>
  withDirectory(async directory => {
    await (await openIn(directory)).close()
    const recycled = { pid: process.pid, processStart: 'another boot/1', since: 0 }
    await write(directory, 'meta', 'owner', encode('owner', recycled))
    const journal = await openIn(directory)
    await journal.close()
  }))

test('another version is refused by all roles, naming both', () =>
  withDirectory(async directory => {
    await (await openIn(directory)).close()
    await write(directory, 'meta', 'version', encode('version', 99))
    for (const more of [{}, { readOnly: true }, { role: 'thread' as const }]) {
      const error = await rejectsWith('journal-version', openIn(directory, more))
      assert.match(error.message, 'version 99')
      assert.match(error.message, 'version 2')
    }
  }))

test('a place where there is no journal, or can be none, is a clear error', () =>
  withDirectory(async directory => {
    await rejectsWith('journal-missing', openIn(join(directory, 'none'), { readOnly: true }))
    await rejectsWith('journal-missing', openIn(join(directory, 'none'), { role: 'thread' }))
    await writeFile(join(directory, 'file'), 'text')
    await rejectsWith('journal-unusable', openIn(join(directory, 'file', 'journal')))
    await writeFile(join(directory, 'data.mdb'), 'no database at all')
    await rejectsWith('journal-unusable', openIn(directory))
  }))

test('where lmdb cannot write, what was acknowledged is there all the same, and the rest can be put again', () =>
  withDirectory(async directory => {
    const script = fileURLToPath(new URL('./full-disk.js', import.meta.url))
    const report = join(directory, 'report')
    const limited = ['-c', 'ulimit -f 4000; exec "$@"', 'bash', process.execPath, script, directory, report]
    // How the process ends is lmdb's affair: it may reject a promise that nobody holds.
    const child = spawn('bash', limited, { stdio: 'ignore', timeout: 20_000, killSignal: 'SIGKILL' })
    await once(child, 'exit')
    const lines = (await readFile(report, 'utf8')).trimEnd().split('\n')
    const acknowledged = lines.filter(line => /^\d+$/.test(line)).map(Number)
    assert.ok(acknowledged.length > 0)
    assert.ok(lines.every(line => /^\d+$/.test(line) || line === 'journal-write-failed'))
    const journal = await openIn(directory)
    try {
      for (const index of acknowledged)
        assert.is((await journal.run(makeHeader({ index }).runId))?.trajectory.byteLength, 75_000)
      const listed = await collect(journal.runs(toJobId('job-1')))
      for (const { runId } of listed) assert.ok(await journal.run(runId))
      await Promise.all(
        Array.from({ length: 200 }, (_, index) => journal.putRun(makeHeader({ index }), new Uint8Array(75_000))),
      )
      assert.is((await collect(journal.runs(toJobId('job-1')))).length, 200)
    } finally {
      await journal.close()
    }
  }))

test('writes are refused in good time before the disk is full, and stay refused', () =>
  withDirectory(async directory => {
    const journal = await openIn(directory, { minFreeBytes: Number.MAX_SAFE_INTEGER })
    await rejectsWith('journal-disk-full', journal.putRun(makeHeader(), Uint8Array.of(1)))
    await rejectsWith('journal-disk-full', journal.putGroup(makeGroupRecord()))
    assert.is(await journal.run(makeHeader().runId), undefined)
    await journal.close()
    await (await openIn(directory)).close()
  }))

test('a run of which a crash left only a part is not listed, and can be put again', () =>
  withDirectory(async directory => {
    await (await openIn(directory)).close()
    const header = makeHeader()
    const key: RunKey = toRunKey(header)
    await write(directory, 'run-keys', header.runId, encode('runPlace', { key, checksum: 0 }))
    await write(directory, 'headers', key, encode('run', header))
    const journal = await openIn(directory)
    try {
      assert.equal(await collect(journal.runs(header.jobId)), [])
      assert.is(await journal.run(header.runId), undefined)
      await journal.putRun(header, Uint8Array.of(5))
      assert.equal([...((await journal.run(header.runId))?.trajectory ?? [])], [5])
      assert.is((await collect(journal.runs(header.jobId))).length, 1)
    } finally {
      await journal.close()
    }
  }))

test('a record or a trajectory that is not what was put is an error, and never data', () =>
  withDirectory(async directory => {
    const trajectory = Buffer.alloc(20_000, 'a trajectory ')
    const header = makeHeader({ agent: 'an-agent-to-be-found' })
    const first = await openIn(directory)
    await first.putRun(header, trajectory)
    await first.close()
    const file = join(directory, 'data.mdb')
    const good = await readFile(file)
    for (const [text, read] of [
      ['trajectory a trajectory a tra', (journal: LmdbJournal) => journal.run(header.runId)],
      ['trajectory a trajectory a tra', async (journal: LmdbJournal) => journal.trajectory(header.runId)],
      ['an-agent-to-be-found', (journal: LmdbJournal) => journal.run(header.runId)],
      ['an-agent-to-be-found', (journal: LmdbJournal) => collect(journal.runs(header.jobId))],
    ] as const) {
      const bad = Buffer.from(good)
      for (let at = bad.indexOf(text); at >= 0; at = bad.indexOf(text, at + text.length)) bad.write('X', at)
      await writeFile(file, bad)
      const journal = await openIn(directory)
      try {
        const error = await rejectsWith('journal-damaged', read(journal))
        assert.match(error.message, /restore the directory from a copy/)
      } finally {
        await journal.close()
      }
    }
  }))

/** As another version of Troupe, or a process that is gone, would have left it. */
async function write(directory: string, name: string, key: string | RunKey, value: Uint8Array): Promise<void> {
  const root = open({ path: directory, noSubdir: false, encoding: 'binary', maxDbs: 8 })
  await root.openDB<Uint8Array, string | RunKey>({ name, encoding: 'binary' }).put(key, value)
  await root.close()
}

test('a file that was cut off after a crash is all there, or damaged, and never less than there was', () =>
  withDirectory(async directory => {
    const whole = join(directory, 'whole')
    await writeUntilKilled(whole, 12)
    const bytes = await readFile(join(whole, 'data.mdb'))
    const everything = await countRuns(whole)
    const pages = Math.floor(bytes.length / PAGE_BYTES)
    let damaged = 0
    // The first two pages are lmdb's own heads.
    for (let kept = 2; kept < pages; kept += Math.ceil(pages / CUTS)) {
      const cut = join(directory, `cut-${kept}`)
      await mkdir(cut)
      await writeFile(join(cut, 'data.mdb'), bytes.subarray(0, kept * PAGE_BYTES))
      const found: unknown = await countRuns(cut).catch((error: unknown) => error)
      if (hasTag(found, 'journal-damaged')) damaged += 1
      else assert.is(found, everything, `${kept} of ${pages} pages: ${found}`)
      await rm(cut, { recursive: true })
    }
    assert.ok(damaged > 0)
  }))

async function countRuns(directory: string): Promise<number> {
  const journal = await openIn(directory)
  try {
    return (await collect(journal.runs(toJobId('job-1')))).length
  } finally {
    await journal.close()
  }
}

test.run()
