import pc from 'picocolors'
import type { PassRate } from './pass-rates.ts'
import { renderPool } from './pool.ts'
import { isWhole, type Report } from './report.ts'
import { renderTable } from './table.ts'
import { decimal, duration, mebibytes, oneLine, percent } from './units.ts'

/** Widths that keep a full row within 100 columns. */
const EXAMPLE_WIDTH = 42
const TAG_WIDTH = 18
const SLUG_WIDTH = 24
const FACET_WIDTH = 10
/** From here on timers, deadlines and answers are off by more than a person would call nothing. */
const LATE_LOOP_MS = 100

/** The report as tables of at most 100 columns. Colours only where the caller writes to a terminal. */
export function renderReport(report: Report, colours = false): string {
  const paint = pc.createColors(colours)
  const sections = [
    headline(report, paint),
    ...(report.variants.length === 0 ? [] : [variants(report)]),
    ...report.facets.map(({ facet, values }) =>
      renderTable(
        [oneLine(facet, SLUG_WIDTH), 'tasks', ...RATE_HEAD],
        values.map(entry => [oneLine(entry.value, SLUG_WIDTH), entry.tasks, ...rateCells(entry)]),
      ),
    ),
    spread(report),
    failures(report, paint),
    ...(report.stages.length === 0 ? [] : [stages(report)]),
    engine(report),
  ]
  return `${sections.join('\n\n')}\n`
}

function headline(report: Report, paint: ReturnType<typeof pc.createColors>): string {
  const { planned, graded, passed, recalled } = report.runs
  const colour = isWhole(report) ? paint.green : paint.red
  const seed = report.seed === undefined ? '' : `, seed ${report.seed}`
  return [
    paint.bold(`${report.name} (${report.jobId}${seed})`),
    `${colour(`${graded} of ${planned} runs graded`)}, ${passed} passed (${percent(report.passRate)}), mean reward ${decimal(report.meanReward, 3)}`,
    `${duration(report.wallMs)}, ${decimal(report.runsPerSecond, 1)} runs/s${recalled === 0 ? '' : `, ${recalled} runs were there already`}`,
  ].join('\n')
}

const RATE_HEAD = ['runs', 'graded', 'passed', 'pass rate', 'mean reward']

function rateCells(rate: PassRate): (string | number)[] {
  return [rate.runs, rate.graded, rate.passed, percent(rate.passRate), decimal(rate.meanReward)]
}

function variants(report: Report): string {
  const shown = report.facets.slice(0, 1).map(({ facet }) => facet)
  return renderTable(
    ['task', ...shown.map(facet => oneLine(facet, FACET_WIDTH)), ...RATE_HEAD, 'std'],
    report.variants.map(variant => [
      oneLine(variant.label, SLUG_WIDTH),
      ...shown.map(facet => cell(variant.columns[facet])),
      ...rateCells(variant),
      decimal(variant.rewardStd),
    ]),
  )
}

function spread({ spread: found, groups, chunks }: Report): string {
  const dropped = Object.entries(groups.dropped).map(([reason, count]) => `${count} dropped (${reason})`)
  const ends = [`${groups.complete} complete`, ...(groups.partial > 0 ? [`${groups.partial} partial`] : []), ...dropped]
  const lines = [`groups: ${groups.finished} of ${groups.planned} ended: ${ends.join(', ')}`]
  if (found.groups > 0)
    lines.push(
      `reward spread: ${found.withSpread} of ${found.groups} groups have one (${percent(found.share)}), mean std ${decimal(found.meanStd, 3)}`,
    )
  if (chunks !== null && chunks !== undefined)
    lines.push(`chunks: ${chunks.count} of whole groups, ${chunks.runs} runs, ${mebibytes(chunks.bytes)}`)
  return lines.join('\n')
}

function failures(report: Report, paint: ReturnType<typeof pc.createColors>): string {
  if (report.failures.length === 0) return 'failures: none'
  const rows = report.failures.map(kind => [
    kind.count,
    kind.outcome === kind.stopReason ? kind.outcome : `${kind.outcome}\n${kind.stopReason}`,
    oneLine(kind.errorTag ?? '–', TAG_WIDTH),
    `${oneLine(`${kind.example.slug}: ${kind.example.message ?? '–'}`, EXAMPLE_WIDTH)}\n${paint.dim(kind.example.runId)}`,
  ])
  return renderTable(['failed', 'who, why', 'error', 'first example'], rows, { left: [1, 2, 3] })
}

function stages(report: Report): string {
  return renderTable(
    ['stage', 'runs', 'p50', 'p95', 'max'],
    report.stages.map(({ stage, runs, p50Ms, p95Ms, maxMs }) => [
      stage,
      runs,
      duration(p50Ms),
      duration(p95Ms),
      duration(maxMs),
    ]),
  )
}

function engine({ engine: used, leases, pool }: Report): string {
  return [
    `leases: ${leases.hit} hit, ${leases.cold} cold, ${leases.claim} claimed, ${leases.fork} forked (hit rate ${percent(leases.hitRate)})`,
    ...(pool === null ? [] : [renderPool(pool)]),
    `engine: ${duration(used.cpuMs)} CPU (${duration(used.cpuMsPerRun)} a run), main-loop delay p99 ${duration(used.loopDelayP99Ms)}`,
    ...(used.loopDelayP99Ms < LATE_LOOP_MS ? [] : [LATE_LOOP]),
    `memory: peak ${mebibytes(used.peakRssBytes)}, ${mebibytes(used.peakRssBytesPerRun)} for each of ${used.peakInFlight} in flight`,
  ].join('\n')
}

const LATE_LOOP = 'the main loop is late: deadlines and waits are off by as much. Lower --max-concurrent.'

function cell(value: unknown): string {
  if (value === undefined) return '–'
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), FACET_WIDTH)
}
