import { loadavg } from 'node:os'
import { execa } from 'execa'
import { z } from 'zod'
import type { Given } from './given.ts'
import { type Figure, toCell, toFigure } from './measure.ts'
import { type BenchRow, type BenchTable, formatNumber } from './table.ts'

const ROUNDS = { full: 15, quick: 5 }
/** The aim for `import 'troupe'`, beyond what an empty program takes. */
const AIM_MS = 120
const PROCESS_MS = 60_000

/** Folders of the entries, by what a program writes. */
const ENTRIES = {
  troupe: '',
  'troupe/kernel': 'kernel/',
  'troupe/stream': 'stream/',
  'troupe/environment': 'environment/',
  'troupe/testing': 'testing/',
  'troupe/policy': 'policy/',
  'troupe/emulator': 'emulator/',
} as const
type Entry = keyof typeof ENTRIES
const NOTHING = 'an empty program'

/** Without an argument it imports nothing, and is otherwise the same. */
const PROGRAM = `
const [, url] = process.argv
if (url !== undefined) await import(url)
const { user, system } = process.cpuUsage()
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 }))
`
const reportSchema = z.object({ cpuMs: z.number() })

/** One process, from its start to its end. */
interface Sample {
  readonly wallMs: number
  readonly cpuMs: number
}

/**
 * What it costs to import each entry: fresh processes that do nothing else, less one that does nothing at all. They take turns, so that a busy moment of the
 * machine falls on all alike, and a round's figure is the difference to the empty program of that round.
 */
export async function importBench({ quick, signal }: Given): Promise<BenchTable> {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  const subjects = [NOTHING, ...Object.keys(ENTRIES)]
  const samples = new Map<string, Sample[]>(subjects.map(each => [each, []]))
  const loadBefore = loadText()
  for (let round = 0; round <= rounds && signal?.aborted !== true; round += 1)
    for (const subject of subjects) {
      const sample = await runOnce(subject)
      // The first is for the files to be in the system's cache.
      if (round > 0) samples.get(subject)?.push(sample)
    }
  const of = (subject: string, read: (sample: Sample) => number) => (samples.get(subject) ?? []).map(read)
  return {
    title: `imports in fresh processes, ${rounds} of each in turn`,
    rows: Object.keys(ENTRIES).flatMap(entry => [
      toRow(`${entry}: wall`, of(entry, wall), of(NOTHING, wall), entry === 'troupe'),
      toRow(`${entry}: CPU`, of(entry, cpu), of(NOTHING, cpu), false),
    ]),
    notes: `load average before ${loadBefore}, after ${loadText()}; Node ${process.versions.node}`,
  }
}

const wall = ({ wallMs }: Sample) => wallMs
const cpu = ({ cpuMs }: Sample) => cpuMs

async function runOnce(subject: string): Promise<Sample> {
  const url = isEntry(subject) ? [new URL(`../src/${ENTRIES[subject]}index.js`, import.meta.url).href] : []
  const startedAt = performance.now()
  const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', PROGRAM, ...url], {
    timeout: PROCESS_MS,
    env: { NODE_OPTIONS: '' },
  })
  const wallMs = performance.now() - startedAt
  return { wallMs, ...reportSchema.parse(JSON.parse(stdout)) }
}

const isEntry = (subject: string): subject is Entry => Object.hasOwn(ENTRIES, subject)

function toRow(name: string, theirs: readonly number[], empty: readonly number[], hasAim: boolean): BenchRow {
  const over: Figure = toFigure(theirs.map((each, round) => each - (empty[round] ?? Number.NaN)))
  const alone = toFigure(empty).value
  return {
    name,
    ...toCell(over, 'ms'),
    reference: `${NOTHING} ${formatNumber(alone)} ms`,
    ratio: over.value / alone,
    ...(hasAim ? { aim: `below ${AIM_MS} ms`, met: over.value < AIM_MS } : {}),
  }
}

const loadText = (): string =>
  loadavg()
    .map(each => each.toFixed(2))
    .join(' ')
