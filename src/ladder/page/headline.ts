import type { LadderPoint } from '../../receipts/over-repetitions.ts'
import type { Work } from '../level.ts'
import { toLook } from './strategies.ts'
import { pointsOf, type View, type Views } from './view.ts'
import { toCount, toSeconds, toSooner } from './words.ts'

interface Ready {
  readonly strategy: string
  readonly n: number
  readonly seconds: number
}

/** The receipt in a few sentences: the widest level, cold against the soonest; the same against the other receipt; what failed, and what was left. */
export function toHeadline({ own, other, strategies }: Views, work: Work): string {
  const tell = ({ strategy, seconds }: Ready) => `${toLook(strategy, strategies).name} ${toSeconds(seconds)}`
  const sentences = [toWidest(readyOf(own, work), tell), toTally(pointsOf(own, work), work)]
  if (other !== undefined) sentences.splice(1, 0, toAgainst(readyOf(own, work), readyOf(other, work), other.name, tell))
  return sentences.filter(sentence => sentence !== '').join(' ')
}

function toWidest(ready: readonly Ready[], tell: (level: Ready) => string): string {
  const [cold, best] = [coldOf(widest(ready)), soonest(widest(ready).filter(({ strategy }) => strategy !== 'cold'))]
  const only = cold ?? best
  if (only === undefined) return 'Nothing became ready.'
  if (cold === undefined || best === undefined) return `${only.n} at once: ${tell(only)}.`
  return `${only.n} at once: ${tell(cold)}, ${tell(best)}, ${toSooner(best.seconds, cold.seconds)}.`
}

/** At the widest level that both have: cold against cold, and the soonest against the other's soonest. */
function toAgainst(
  ready: readonly Ready[],
  others: readonly Ready[],
  name: string,
  tell: (level: Ready) => string,
): string {
  const shared = widest(ready.filter(({ n }) => others.some(other => other.n === n)))
  const theirs = others.filter(({ n }) => n === shared[0]?.n)
  const [ours, best] = [coldOf(shared), soonest(theirs)]
  const [cold, soonestOfOurs] = [coldOf(theirs), soonest(shared)]
  if (best === undefined || soonestOfOurs === undefined) return `No width of ${name} was measured here.`
  const first =
    ours === undefined || cold === undefined
      ? ''
      : `cold ${toSeconds(cold.seconds)}, here ${toSooner(ours.seconds, cold.seconds)}; `
  const second = `its soonest, ${tell(best)}, against ${tell(soonestOfOurs)}, ${toSooner(soonestOfOurs.seconds, best.seconds)}`
  return `Against the ${name} at ${best.n}: ${first}${soonestOfOurs === ours && best === cold ? '' : second}.`.replace(
    '; .',
    '.',
  )
}

function toTally(points: readonly LadderPoint[], work: Work): string {
  const sum = (of: (point: LadderPoint) => number) => points.reduce((total, point) => total + of(point), 0)
  const [levels, asked] = [sum(({ rows }) => rows.length), sum(({ ok, failed }) => ok + failed)]
  if (levels === 0) return ''
  const counted = points.some(({ leaked }) => leaked !== undefined)
  const leaked = counted
    ? `${toCount(
        sum(point => point.leaked ?? 0),
        'leaked',
        'leaked',
      )}`
    : 'leaks were not counted'
  return `${work === 'infra' ? toCount(asked, 'sandbox', 'sandboxes') : toCount(asked, 'rollout', 'rollouts')} in ${toCount(levels, 'level', 'levels')}: ${toCount(
    sum(({ failed }) => failed),
    'failed',
    'failed',
  )}, ${leaked}.`
}

const readyOf = (view: View, work: Work): readonly Ready[] =>
  pointsOf(view, work).flatMap(point => {
    const seconds = point.figure('ready_p50_s')?.median
    return seconds === undefined ? [] : [{ strategy: point.strategy, n: point.n, seconds }]
  })

/** Those of the widest level at which more than one was measured, or else of the widest. */
function widest(ready: readonly Ready[]): readonly Ready[] {
  const levels = [...new Set(ready.map(({ n }) => n))]
    .toSorted((one, other) => other - one)
    .map(width => ready.filter(({ n }) => n === width))
  return levels.find(level => level.length > 1) ?? levels[0] ?? []
}

const coldOf = (ready: readonly Ready[]): Ready | undefined => ready.find(({ strategy }) => strategy === 'cold')
const soonest = (ready: readonly Ready[]): Ready | undefined =>
  ready.toSorted((one, other) => one.seconds - other.seconds)[0]
