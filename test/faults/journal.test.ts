/** A journal whose file was cut off or changed after its engine was killed. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { readElsewhere, readJournal } from './harness/read-journal.ts'
import { type FaultScene, withFaultScene } from './harness/scene.ts'
import { type Draw, faultTest, runFaults } from './harness/seeds.ts'
import { runAlone } from './harness/start-child.ts'

const test = suite('faults of the journal')

const GROUPS = 4
const MEMBERS = 3
const CUTS = 12

/** The journal of an engine that was killed when it had so many runs to go, and what is in it. */
async function withKilled(
  draw: Draw,
  body: (file: string, scene: FaultScene, truth: readonly string[]) => Promise<number>,
): Promise<number> {
  const [arrival = 1] = draw.moments(1, GROUPS * MEMBERS)
  return withFaultScene([{ phase: 'agent', arrival: Math.max(6, arrival), act: 'kill-engine' }], async scene => {
    const job = { groups: GROUPS, members: MEMBERS, seed: draw.seed, bytes: 20_000 }
    const { exit, outcome } = await runAlone(scene, { ...job, options: { threads: 1, maxConcurrent: 2 } })
    assert.equal([exit, outcome], ['SIGKILL', undefined])
    const truth = await readJournal(scene.journal)
    if (truth.type === 'refused') throw new Error(truth.message)
    assert.ok(truth.lines.some(line => line.startsWith('run')))
    return body(join(scene.journal, 'data.mdb'), scene, truth.lines)
  })
}

/** Either all of it, or an error that says what to do. */
async function checkReading(directory: string, truth: readonly string[]): Promise<'read' | 'refused'> {
  const reading = await readElsewhere(directory)
  if (reading.type === 'read') assert.equal(reading.lines, truth)
  else {
    assert.is(reading.tag, 'journal-damaged', reading.message)
    assert.match(reading.message, /restore the directory from a copy/)
  }
  return reading.type
}

faultTest(test, 'a file that was cut off is read whole or refused, wherever it was cut', { seeds: 2 }, draw =>
  withKilled(draw, async (file, scene, truth) => {
    const whole = await readFile(file)
    let refused = 0
    for (let cut = 0; cut < CUTS; cut += 1) {
      await writeFile(file, whole.subarray(0, draw.whole(Math.floor(whole.length / 3), whole.length - 1)))
      if ((await checkReading(scene.journal, truth)) === 'refused') refused += 1
    }
    assert.ok(refused > 0)
    return CUTS
  }),
)

faultTest(test, 'bytes that changed on the disk are never handed out as data', { seeds: 2 }, draw =>
  withKilled(draw, async (file, scene, truth) => {
    const whole = await readFile(file)
    /** What headers, groups and trajectories hold, and nothing of lmdb's own. */
    for (const text of ['graded', 'sayer', ' '.repeat(1_000), 'stopReason']) {
      const places: number[] = []
      for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + text.length)) places.push(at)
      assert.ok(places.length > 0, text)
      const changed = Buffer.from(whole)
      const at = (places[draw.whole(0, places.length - 1)] ?? 0) + draw.whole(0, text.length - 1)
      changed.writeUInt8((changed.readUInt8(at) + draw.whole(1, 255)) % 256, at)
      await writeFile(file, changed)
      await checkReading(scene.journal, truth)
    }
    return 4
  }),
)

runFaults(test)
