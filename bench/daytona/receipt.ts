import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'
import { LADDER_LIMITS } from './cell.ts'
import type { Level } from './level.ts'
import type { LadderOptions } from './options.ts'
import { countByTag, summarise } from './summary.ts'

/** The first eleven are the published ladder's own, so that its rows and ours can be laid over each other. */
const COLUMNS: Readonly<Record<string, (level: Level) => string | number | undefined>> = {
  n: ({ cell }) => cell.width,
  rep: ({ repetition }) => repetition,
  mode: ({ cell }) => cell.mode,
  ok: ({ samples }) => samples.length,
  failed: ({ failures }) => failures.length,
  ready_p50_s: level => seconds(summarise(level).usable.p50),
  ready_p95_s: level => seconds(summarise(level).usable.p95),
  ready_min_s: level => seconds(summarise(level).usable.min),
  ready_max_s: level => seconds(summarise(level).usable.max),
  spread_s: level => seconds(summarise(level).usable.max - summarise(level).usable.min),
  wall_s: ({ wallMs }) => seconds(wallMs),
  ready_p99_s: level => seconds(summarise(level).usable.p99),
  lease_p50_ms: level => fixed(summarise(level).lease?.p50),
  lease_p95_ms: level => fixed(summarise(level).lease?.p95),
  lease_p99_ms: level => fixed(summarise(level).lease?.p99),
  hello_p50_ms: level => fixed(summarise(level).hello?.p50),
  hello_p95_ms: level => fixed(summarise(level).hello?.p95),
  added_p50_ms: level => fixed(summarise(level).added?.p50),
  added_p95_ms: level => fixed(summarise(level).added?.p95),
  fill_s: ({ fillMs }) => seconds(fillMs),
  hits: countOf('hit'),
  colds: countOf('cold'),
  claims: countOf('claim'),
  forks: countOf('fork'),
  creates: level => summarise(level).creates,
  create_failures: ({ pool }) => pool?.createFailures,
  leaked: ({ leaked }) => leaked,
  client_cpu_ms: level => fixed(level.cpuMs / level.cell.width),
  client_rss_mib: ({ peakRssBytes }) => fixed(peakRssBytes / 2 ** 20),
  loop_p99_ms: ({ loopP99Ms }) => fixed(loopP99Ms),
  loop_max_ms: ({ loopMaxMs }) => fixed(loopMaxMs),
  emulator_cpu_ms: level => fixed(level.emulatorCpuMs / level.cell.width),
  failure_tags: ({ failures }) =>
    [...countByTag(failures)].map(([tag, count]) => `${tag}:${count}`).join(' ') || undefined,
}

/** What else one needs to make the same again, as lines that begin with `#`. */
export function formatReceipt(levels: readonly Level[], options: LadderOptions, complete: boolean): string {
  const about = {
    made: new Date().toISOString(),
    command: `npm run bench -- daytona --widths ${options.widths} --repetitions ${options.repetitions} --modes ${options.modes} --transport ${options.transport} --seed ${options.seed}`,
    complete,
    troupe: versionOf('../../../package.json'),
    node: process.version,
    sdk: versionOf('../../../node_modules/@daytonaio/sdk/package.json'),
    machine: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    load: loadavg()[0]?.toFixed(2),
    provider: `troupe emulator at speed 1 with seed ${options.seed}, a fresh process for each mode and width`,
    limits: JSON.stringify(LADDER_LIMITS),
    columns:
      '*_s in seconds, *_ms in milliseconds; *_cpu_ms of one sandbox; ready is from asking until hello was answered',
  }
  const lines = [
    ...Object.entries(about).map(([key, value]) => `# ${key}: ${value}`),
    Object.keys(COLUMNS).join(','),
    ...levels.map(level =>
      Object.values(COLUMNS)
        .map(column => column(level) ?? '')
        .join(','),
    ),
  ]
  return `${lines.join('\n')}\n`
}

export function writeReceipt(path: string, levels: readonly Level[], options: LadderOptions, complete: boolean): void {
  writeFileSync(path, formatReceipt(levels, options, complete))
}

function countOf(kind: LeaseKind) {
  return ({ samples }: Level): number => samples.filter(sample => sample.kind === kind).length
}

const seconds = (ms: number): string => (Number.isNaN(ms) ? '' : (ms / 1_000).toFixed(3))
const fixed = (value: number | undefined): string | undefined =>
  value === undefined || Number.isNaN(value) ? undefined : value.toFixed(2)

function versionOf(path: string): string {
  return String(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version)
}
