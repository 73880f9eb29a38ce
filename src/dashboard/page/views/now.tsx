import type { ComponentChild } from 'preact'
import type { FeedNow } from '../../../feed/messages.ts'
import type { Phase } from '../../../rollout/run.ts'
import type { ViewProps } from '../app.tsx'
import { countUnderWay, phaseCounts } from '../model/state.ts'
import type { TrendName, TrendPoint } from '../model/trends.ts'
import { PHASE_LOOKS, PHASE_ORDER } from '../palette.ts'
import { Empty, Fold, Panel } from '../parts/panel.tsx'
import { Spark } from '../parts/spark.tsx'
import { DataTable } from '../parts/table.tsx'
import { clockTime, count, decimal, duration, elapsed, mebibytes, moment, money, percent, plural } from '../words.ts'
import { Journal } from './journal.tsx'

/** The figures of this moment, each with how it went. */
export function Now({ state }: ViewProps) {
  const { job, now, trends } = state
  if (job === null || now === null)
    return <Empty what="Nothing has been heard yet." how="The page waits for the engine's first message." />
  return (
    <>
      {now.snapshot === null ? (
        <Journal state={state} />
      ) : (
        <Progress now={now} snapshot={now.snapshot} liveCount={state.live.length} at={state.at} />
      )}
      <dl class="tiles" hidden={now.snapshot === null}>
        {toTiles(now, job.maxConcurrent).map(({ name, figure, of, note, trend }) => (
          <div class="tile" key={name}>
            <dt>{name}</dt>
            <dd class="figure">
              {figure}
              {of !== undefined && <small> {of}</small>}
            </dd>
            <dd class="note">{note}</dd>
            <dd>
              <Spark points={trends} name={trend} />
            </dd>
          </div>
        ))}
      </dl>
      <Phases counts={phaseCounts(state)} />
      <Panel title="Job">
        <dl class="facts">
          {toFacts(state).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Fold summary="Trends: the table">{() => <TrendTable points={trends} />}</Fold>
      </Panel>
    </>
  )
}

interface Tile {
  readonly name: string
  readonly figure: string
  readonly of?: string
  readonly note: string
  readonly trend: TrendName
}

const UNTOLD = 'only the process that runs it can tell'

/** In the order of the screen. */
export function toTiles(now: FeedNow, maxConcurrent: number | null): readonly Tile[] {
  const { snapshot, rate, hitRate, cost } = now
  const pool = snapshot?.pool
  const most = maxConcurrent === null ? '' : `of ${count(maxConcurrent)}`
  return [
    {
      name: 'Rollouts in flight',
      figure: count(snapshot?.inFlight),
      of: most,
      note: snapshot === null ? UNTOLD : `at most ${count(snapshot.peakInFlight)} at once`,
      trend: 'inFlight',
    },
    {
      name: 'Pool, ready',
      figure: count(pool?.ready),
      of: pool === undefined ? '' : `of ${count(pool.target)}`,
      note: pool === undefined ? UNTOLD : `${count(pool.creating)} being made, ${count(pool.waiting)} wait for one`,
      trend: 'ready',
    },
    {
      name: 'Pool, leased',
      figure: count(pool?.leased),
      note: pool === undefined ? UNTOLD : `${count(pool.created)} made, ${count(pool.createFailures)} failed to be`,
      trend: 'leased',
    },
    { name: 'Warm hits', figure: percent(hitRate), note: tellLeases(now), trend: 'hitRate' },
    {
      name: 'Credits in use',
      figure: count(snapshot?.creditsInUse),
      of: most,
      note: snapshot === null ? UNTOLD : `${mebibytes(snapshot.waitingBytes)} wait for the trainer`,
      trend: 'credits',
    },
    { name: 'Rollouts ended', figure: decimal(rate, 1), of: '/ s', note: 'over the last 10 s', trend: 'rate' },
    {
      name: 'Loop delay, p99',
      figure: duration(snapshot?.loopDelayP99Ms),
      note:
        snapshot === null ? UNTOLD : `${duration(snapshot.engineCpuMs)} of CPU, ${mebibytes(snapshot.engineRssBytes)}`,
      trend: 'loopDelayMs',
    },
    {
      name: 'Cost so far',
      figure: money(cost),
      note: cost === null ? 'prices were not given' : tellCostEach(now),
      trend: 'cost',
    },
  ]
}

function tellLeases({ snapshot }: FeedNow): string {
  if (snapshot?.pool === undefined) return snapshot === null ? UNTOLD : 'no lease yet'
  const { hit, cold, claim, fork } = snapshot.pool.leases
  const others = [
    [cold, 'cold'],
    [claim, 'claimed'],
    [fork, 'forked'],
  ] as const
  const told = others.flatMap(([value, name]) => (value === 0 ? [] : [`${count(value)} ${name}`]))
  return [`${count(hit)} warm`, ...told].join(', ')
}

function tellCostEach({ cost, snapshot }: FeedNow): string {
  if (cost === null || snapshot === null || snapshot.finishedRuns === 0) return ''
  return `${(cost.amount / snapshot.finishedRuns).toPrecision(2)} a rollout`
}

interface ProgressProps {
  readonly now: FeedNow
  readonly snapshot: NonNullable<FeedNow['snapshot']>
  readonly liveCount: number
  readonly at: number
}

function Progress({ now, snapshot, liveCount, at }: ProgressProps) {
  const { rate } = now
  const { plannedRuns, finishedRuns, graded, passed, rewardSum, plannedGroups, finishedGroups } = snapshot
  const share = plannedRuns === 0 ? 0 : Math.min(1, finishedRuns / plannedRuns)
  // A training plans step by step: how many are left of it is not known here.
  const left = rate > 0 && liveCount > 0 && now.step === null ? ((plannedRuns - finishedRuns) / rate) * 1000 : null
  return (
    <Panel title="Progress">
      <div class="progress">
        <dl class="facts">
          <div>
            <dt>Runs</dt>
            <dd>
              {count(finishedRuns)} of {count(plannedRuns)} ({percent(share, 0)})
            </dd>
          </div>
          <div>
            <dt>Groups</dt>
            <dd>
              {count(finishedGroups)} of {count(plannedGroups)}
            </dd>
          </div>
          <div>
            <dt>Mean reward</dt>
            <dd>{graded === 0 ? '–' : decimal(rewardSum / graded, 3)}</dd>
          </div>
          <div>
            <dt>Passed</dt>
            <dd>
              {count(passed)} of {count(graded)} graded ({percent(graded === 0 ? null : passed / graded)})
            </dd>
          </div>
          {now.step !== null && (
            <div>
              <dt>Step</dt>
              <dd>{count(now.step + 1)}</dd>
            </div>
          )}
          <div>
            <dt>Began</dt>
            <dd>{elapsed(at - snapshot.startedAt)} ago</dd>
          </div>
          {left !== null && left > 0 && (
            <div>
              <dt>At this rate</dt>
              <dd>{elapsed(left)} to go</dd>
            </div>
          )}
        </dl>
        <div class="bar thin" aria-hidden="true">
          <span style={{ width: `${share * 100}%`, background: 'var(--accent)' }} />
        </div>
      </div>
    </Panel>
  )
}

function Phases({ counts }: { readonly counts: ReadonlyMap<Phase, number> }) {
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0)
  const present = PHASE_ORDER.filter(phase => counts.has(phase))
  return (
    <Panel title="What rollouts are doing" note={plural(total, 'rollout under way', 'rollouts under way')}>
      {total === 0 ? (
        <Empty
          what="No rollout is under way."
          how="Here is shown how many of them are in each phase, as soon as some are."
        />
      ) : (
        <>
          <div class="bar" aria-hidden="true">
            {present.map(phase => (
              <span
                key={phase}
                style={{ flex: `${counts.get(phase)} 1 0`, background: PHASE_LOOKS[phase].colour }}
                title={phase}
              />
            ))}
          </div>
          <ul class="legend">
            {present.map(phase => (
              <li key={phase}>
                <PhaseSwatch phase={phase} />
                {phase} {count(counts.get(phase))}
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

/** As high as the phase is drawn in the lanes. */
export function PhaseSwatch({ phase }: { readonly phase: Phase }) {
  const { colour, tall } = PHASE_LOOKS[phase]
  return <span class="swatch" style={{ background: colour, height: `${Math.round(tall * 14)}px` }} />
}

function toFacts({ job, now, live, at }: ViewProps['state']): readonly (readonly [string, ComponentChild])[] {
  if (job === null) return []
  return [
    ['Id', <code key="id">{job.jobId}</code>],
    ['Began', moment(job.startedAt)],
    ['Runtime', job.runtime ?? '–'],
    ['Threads', count(job.threads)],
    ['Most at once', count(job.maxConcurrent)],
    ['Under way', count(countUnderWay({ now, live }))],
    ['Troupe', job.version],
    ['Heard', clockTime(at)],
  ]
}

const TREND_COLUMNS: readonly { readonly name: string; readonly of: (point: TrendPoint) => string }[] = [
  { name: 'in flight', of: ({ inFlight }) => count(inFlight) },
  { name: 'credits', of: ({ credits }) => count(credits) },
  { name: 'ready', of: ({ ready }) => count(ready) },
  { name: 'leased', of: ({ leased }) => count(leased) },
  { name: 'warm hits', of: ({ hitRate }) => percent(hitRate) },
  { name: 'loop delay', of: ({ loopDelayMs }) => duration(loopDelayMs) },
  { name: 'ended / s', of: ({ rate }) => decimal(rate, 1) },
  { name: 'cost', of: ({ cost }) => decimal(cost, 4) },
  { name: 'finished', of: ({ finished }) => count(finished) },
  { name: 'mean reward', of: ({ reward }) => decimal(reward, 3) },
]

function TrendTable({ points }: { readonly points: readonly TrendPoint[] }) {
  return (
    <DataTable
      caption="What the small lines show, newest first"
      columns={[{ name: 'at' }, ...TREND_COLUMNS.map(({ name }) => ({ name, kind: 'number' as const }))]}
      rows={points.toReversed().map(point => ({
        key: String(point.at),
        cells: [clockTime(point.at), ...TREND_COLUMNS.map(({ of }) => of(point))],
      }))}
    />
  )
}
