import { percent } from '../report/units.ts'
import type { Analytic } from './analytic.ts'
import { forks, holds, mostAtOnce, toPoolArgument } from './candidates.ts'
import { type Evaluated, hasPrice } from './evaluate.ts'
import type { Objective, Price } from './request.ts'
import type { TuneResult } from './tune.ts'

/** A recommendation in words. */
export interface Advice {
  /** What to do. */
  readonly what: string
  /** What comes of it, a sentence each. */
  readonly figures: readonly string[]
  /** Why so many and not more or fewer. */
  readonly why: string
  /** What theory says of the same pool. */
  readonly check: string
  /** What to type, or to write where no command starts rollouts that way. */
  readonly use: string
}

export function toAdvice(result: TuneResult): Advice {
  const { chosen, isMet, request } = result
  const missed = isMet
    ? ''
    : `No plan that was looked at keeps to ${toText(request.objective)}; this one comes nearest. `
  return {
    what: `${missed}${describe(chosen)}`,
    figures: toSentences(result),
    why: toWhy(result),
    check: toCheck(result.analytic),
    use: toUse(result),
  }
}

export function toText(objective: Objective): string {
  switch (objective.type) {
    case 'hit-rate':
      return `a hit rate of ${percent(objective.atLeast)}`
    case 'step-latency':
      return `a step of ${toSeconds(objective.atMostMs)}`
    case 'budget':
      return `a cost of ${objective.perStep} a step`
    case 'knee':
      return 'the knee'
  }
}

/** Plans differ by seconds, however long a step takes. */
export function toSeconds(ms: number): string {
  const seconds = ms / 1_000
  return `${seconds.toFixed(Math.abs(seconds) < 100 ? 2 : 1)} s`
}

/** Money where there is a price, else what is kept idle. */
export const toCost = (cost: number, price: Price): string =>
  hasPrice(price) ? cost.toPrecision(3) : `${Math.round(cost).toLocaleString('en')} idle s`

function describe({ candidate }: Evaluated): string {
  const { strategy, size, parents, leadMs, wave } = candidate
  const made = forks(strategy) ? `forked from ${parents} that are kept for it` : 'created'
  const creates = wave === undefined ? '' : `, at most ${wave} creates at once`
  if (strategy === 'provider-pool')
    return `Have the provider keep ${size} sandboxes warm, and claim from those${creates}.`
  if (!holds(strategy)) return `Hold none ready: each is ${made} when it is asked for${creates}.`
  const lead = leadMs === undefined ? '' : `, and begin to make them ${toSeconds(leadMs)} before each step`
  return `Hold ${size} sandboxes ready, ${made}${creates}${lead}.`
}

function toSentences({ chosen, cold, request }: TuneResult): readonly string[] {
  const { stepMs, savedMs, hitRate, claimRate, waitMs, idleSeconds } = chosen
  const idle = (each: Evaluated) => Math.round(each.idleSeconds.mean).toLocaleString('en')
  const saved =
    chosen.candidate.strategy === 'cold'
      ? ''
      : `, ${toSeconds(Math.abs(savedMs.mean))} ${savedMs.mean < 0 ? 'more' : 'less'} than cold (95 % interval ${toSeconds(savedMs.low)} to ${toSeconds(savedMs.high)})`
  const claims = claimRate > 0 ? `, ${percent(claimRate)} are claimed` : ''
  const more = Math.round(idleSeconds.mean - cold.idleSeconds.mean)
  const money = hasPrice(request.price)
    ? `; it costs ${toCost(chosen.cost, request.price)} a step in all, ${toCost(cold.cost, request.price)} cold`
    : ''
  return [
    `A step takes ${toSeconds(stepMs.mean)}${saved}.`,
    `${percent(hitRate.mean)} of the leases find a sandbox ready${claims}; of the waits the 95th percentile is ${toSeconds(waitMs.p95)}.`,
    `${idle(chosen)} sandbox-seconds a step are idle, ${more < 0 ? `${-more} fewer` : `${more} more`} than cold${money}.`,
  ]
}

function toWhy({ analytic, chosen, request }: TuneResult): string {
  const { job } = request
  const { strategy, size } = chosen.candidate
  if (analytic.type === 'batch') {
    const most = mostAtOnce(job)
    const all = `All ${most} rollouts ask at once, and a sandbox that is ordered then comes ${toSeconds(analytic.refillMs || chosen.waitMs.p50)} later, when all have asked.`
    if (!holds(strategy)) return `${all} What is not ready beforehand is waited for.`
    const share = `So ${size} ready ones serve ${Math.min(size, most)} of ${most}`
    return size >= most
      ? `${all} ${share}; one fewer leaves one to be waited for, and the last one decides when a step is over. More would never be used.`
      : `${all} ${share}, and the rest are made meanwhile, ${most - size} at once instead of ${most}.`
  }
  const load = analytic.load < 10 ? analytic.load.toFixed(2) : analytic.load.toFixed(0)
  return `A replacement is ready ${toSeconds(analytic.refillMs)} after it is ordered, and in that time only ${load} more rollouts ask, in groups of ${job.group}. The shelf has to bridge that, not the ${mostAtOnce(job)} that run at once.`
}

function toCheck(analytic: Analytic): string {
  if (analytic.type === 'batch')
    return `By theory (the whole batch at once, a fill of ${toSeconds(analytic.refillMs)} ${analytic.isRefilled ? 'within' : 'beyond'} the lead): hit rate ${percent(analytic.hitRate)}, a step of ${toSeconds(analytic.stepMs)} on average over all draws.`
  return `By theory ((S-1, S) base stock, groups that come by chance): hit rate ${percent(analytic.hitRateLost)} where a miss is served from elsewhere (Erlang loss), ${percent(analytic.hitRateWaiting)} where it waits for the next; 99 % takes ${analytic.sizeFor(0.99)}.`
}

function toUse({ chosen, request }: TuneResult): string {
  const { candidate } = chosen
  const { job } = request
  const pool = `--pool ${toPoolArgument(candidate)}`
  const common = `--group ${job.group} --max-concurrent ${job.maxConcurrent}`
  if (job.arrivals.type !== 'batch')
    return `troupe eval … --runtime daytona ${pool} ${common}   # or Job.start with that pool, and job.expect(rollouts) before they come`
  const lead = candidate.leadMs === undefined ? '' : ` --pool-lead ${candidate.leadMs / 1_000}`
  return `troupe train --runtime daytona ${pool}${lead} ${common} --steps ${job.steps}`
}
