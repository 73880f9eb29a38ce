import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { openAppendFile } from '../../../src/telemetry/events/append-file.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'

const test = suite('append file')

async function appendTo(path: string, lines: readonly string[]): Promise<string> {
  const file = await openAppendFile(path)
  try {
    assert.equal(await file.append(lines), { written: lines.length })
  } finally {
    await file.close()
  }
  return readFile(path, 'utf8')
}

test('what is in the file stays, and a line that was left half is ended', () =>
  withFiles({ 'whole.jsonl': '{"a":1}\n', 'half.jsonl': '{"a":1}\n{"b"', 'empty.jsonl': '' }, async directory => {
    const at = (name: string) => join(directory, name)
    assert.is(await appendTo(at('whole.jsonl'), ['{"c":1}', '{"d":1}']), '{"a":1}\n{"c":1}\n{"d":1}\n')
    assert.is(await appendTo(at('half.jsonl'), ['{"c":1}']), '{"a":1}\n{"b"\n{"c":1}\n')
    assert.is(await appendTo(at('empty.jsonl'), ['{"é":1}']), '{"é":1}\n')
    assert.is(await appendTo(at('new.jsonl'), ['{"c":1}']), '{"c":1}\n')
    assert.is((await stat(at('new.jsonl'))).mode & 0o077, 0, 'nobody else reads it')
  }))

test('two that append to one file leave whole lines', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'both.jsonl')
    const files = [await openAppendFile(path), await openAppendFile(path)]
    try {
      await Promise.all(
        files.map(async (file, who) => {
          for (let at = 0; at < 50; at += 1) await file.append([JSON.stringify({ who, at })])
        }),
      )
    } finally {
      for (const file of files) await file.close()
    }
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    assert.is(new Set(lines.map(line => JSON.stringify(JSON.parse(line)))).size, 100)
  }))

test('a directory, a pipe and a place that is not there are refused before anything begins', () =>
  withFiles({}, async directory => {
    const pipe = join(directory, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const refused = async (path: string) => openAppendFile(path).catch((error: unknown) => error)
    assert.ok(hasTag(await refused(directory), 'events-not-a-file'))
    assert.ok(hasTag(await refused(pipe), 'events-not-a-file'))
    const nowhere = await refused(join(directory, 'no', 'events.jsonl'))
    assert.ok(hasTag(nowhere, 'events-not-writable'))
    assert.match(nowhere.message, '--events')
  }))

test.run()
