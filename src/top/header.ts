import type { FeedState } from '../feed/messages.ts'
import { describePool } from '../report/pool.ts'
import { decimal, duration, mebibytes, percent, roughly } from '../report/units.ts'
import { PHASES } from '../rollout/run.ts'
import { isEvaluationStep } from '../training/loop/schedule.ts'
import { timeOfDay } from './lists.ts'
import { clockTime, sparkline, toPlain } from './text.ts'
import { leftMs, stepsPlanned } from './time-left.ts'

const BAR = 20
const NARROW_BAR = 10
const NARROW = 70
const CURVE_SHARE = 3

/** What stands above the lists: who, how far, how it goes, the pool, the engine, and the curve of a training. */
export function toHeader(state: FeedState, columns: number): readonly string[] {
  return [titleOf(state), progressOf(state, columns), runsOf(state), poolOf(state), crewOf(state), engineOf(state)]
    .concat(curveOf(state, columns), phasesOf(state))
    .filter(line => line !== '')
}

const SOURCES: Readonly<Record<FeedState['job']['source'], string>> = {
  live: 'running',
  followed: 'running elsewhere, read from its journal',
  over: 'over',
}

function titleOf({ job, at }: FeedState): string {
  const { name, jobId, source, startedAt } = job
  return parts([`troupe top  ${toPlain(name)}`, jobId, SOURCES[source], clockTime(at - startedAt), timeOfDay(at)])
}

function progressOf(state: FeedState, columns: number): string {
  const { snapshot, rate } = state.now
  const left = leftMs(state)
  const words = [`${decimal(rate, 1)}/s`, ...(left === null ? [] : [`${roughly(left)} left`])]
  if (snapshot === null) return parts([stageOf(state), `${state.runs.length} runs ended`, ...words])
  const { finishedRuns: done, plannedRuns: total } = snapshot
  const size = columns < NARROW ? NARROW_BAR : BAR
  const full = total === 0 ? 0 : Math.floor((Math.min(done, total) / total) * size)
  const bar = '█'.repeat(full) + '░'.repeat(size - full)
  return parts([stageOf(state), `${bar} ${done}/${total} runs`, ...words])
}

/** Which step of how many; of an evaluation, that it is one. */
function stageOf(state: FeedState): string {
  const { step } = state.now
  const planned = stepsPlanned(state)
  if (state.live.some(rollout => isEvaluationStep(rollout.step))) return 'evaluation'
  if (step === null) return ''
  return planned === null ? `step ${step + 1}` : `step ${step + 1}/${planned}`
}

function runsOf({ now: { snapshot, cost } }: FeedState): string {
  if (snapshot === null) return ''
  const { graded, passed, rewardSum, finishedRuns, inFlight } = snapshot
  return parts([
    `graded ${graded}`,
    `passed ${percent(graded === 0 ? null : passed / graded)}`,
    `reward ${decimal(graded === 0 ? null : rewardSum / graded)}`,
    `failed ${finishedRuns - graded}`,
    `in flight ${inFlight}`,
    ...(cost === null ? [] : [`cost ${cost.amount.toFixed(2)} ${toPlain(cost.currency)}`.trimEnd()]),
  ])
}

function poolOf({ now: { snapshot, hitRate }, job }: FeedState): string {
  if (snapshot === null) return ''
  const { pool, creditsInUse } = snapshot
  const credits = job.maxConcurrent === null ? String(creditsInUse) : `${creditsInUse}/${job.maxConcurrent}`
  return parts([
    ...(pool === undefined ? [] : describePool(pool).map(toPlain)),
    ...(hitRate === null ? [] : [`hits ${percent(hitRate)}`]),
    ...(pool === undefined || pool.waiting === 0 ? [] : [`${pool.waiting} wait`]),
    `credits ${credits}`,
  ])
}

/** Of a job on several machines. */
function crewOf({ workers }: FeedState): string {
  if (workers === undefined) return ''
  const { count, credits, creditsFree, list } = workers
  const apart = (['silent', 'draining', 'lost'] as const).flatMap(state => {
    const those = list.filter(worker => worker.state === state).length
    return those === 0 ? [] : [`${those} ${state}`]
  })
  return parts([`workers ${count}`, ...apart, `their rollouts ${credits - creditsFree}/${credits}`])
}

function engineOf({ now: { snapshot }, job }: FeedState): string {
  const who = [
    ...(job.runtime === null ? [] : [toPlain(job.runtime)]),
    ...(job.threads === null ? [] : [`threads ${job.threads}`]),
  ]
  if (snapshot === null) return parts(who)
  return parts([
    ...who,
    `memory ${mebibytes(snapshot.engineRssBytes)}`,
    `peak ${mebibytes(snapshot.peakRssBytes)}`,
    `loop p99 ${duration(snapshot.loopDelayP99Ms)}`,
    `CPU ${duration(snapshot.engineCpuMs)}`,
    `waiting ${mebibytes(snapshot.waitingBytes)}`,
  ])
}

function curveOf({ training: { steps, evaluations } }: FeedState, columns: number): readonly string[] {
  const first = steps[0]
  const last = steps.at(-1)
  const curve =
    first === undefined || last === undefined
      ? []
      : [
          `steps ${sparkline(
            steps.map(({ passRate }) => passRate),
            Math.floor(columns / CURVE_SHARE),
          )} ${percent(first.passRate)} → ${percent(last.passRate)}`,
          ...(last.loss === null ? [] : [`loss ${decimal(last.loss, 1)}`]),
        ]
  const splits = [...new Set(evaluations.map(({ split }) => split))].map(split => {
    const own = evaluations.filter(each => each.split === split)
    const rates = [...new Set([own[0], own.at(-1)])].map(each => percent(each?.passRate ?? null))
    return `${toPlain(split)} ${rates.join(' → ')}`
  })
  return curve.length + splits.length === 0 ? [] : [parts([...curve, ...splits])]
}

function phasesOf({ now: { phases }, live }: FeedState): string {
  const counts = PHASES.map(phase => {
    const count = phases?.[phase] ?? live.filter(rollout => rollout.phase === phase).length
    return count === 0 ? '' : `${phase} ${count}`
  })
  return parts(counts)
}

function parts(words: readonly string[]): string {
  return words.filter(word => word !== '').join('  ')
}
