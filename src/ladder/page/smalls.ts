import type { LadderPoint } from '../../receipts/over-repetitions.ts'
import type { Work } from '../level.ts'
import { drawLines, drawStacked, KINDS, type Part, partsOf, STAGES, toFigureBox, toKey } from './small-charts.ts'
import { toLook } from './strategies.ts'
import { byStrategy, pointsOf, type Views } from './view.ts'
import { escapeText, toMilliseconds, toTick } from './words.ts'

/** What lies behind the seconds: the stages, where sandboxes came from, and what it cost the engine. Nothing where nobody measured it. */
export function toSmalls(views: Views, work: Work): string {
  const points = pointsOf(views.own, work)
  const stages = partsOf(STAGES, points)
  const [pure, mixed] = [byKinds(points, true), byKinds(points, false)]
  const kinds = partsOf(
    KINDS,
    mixed.flatMap(([, line]) => line),
  )
  const allOne = pure.map(
    ([strategy, line]) => `${toLook(strategy, views.strategies).name}: all ${partsOf(KINDS, line)[0]?.all}`,
  )
  return [
    toSection(
      'Where the time goes',
      'Medians of each stage by width, every strategy on a scale of its own.',
      toKey(stages),
      toStacked(views, byStrategy(points), stages, `${work}-stages`),
    ),
    toSection(
      'Where sandboxes came from',
      `${allOne.length === 0 ? '' : `${allOne.join('; ')}. `}${mixed.length === 0 ? '' : 'Shares of those that became ready, by width.'}`,
      toKey(kinds),
      toStacked(views, mixed, kinds, `${work}-kinds`, true),
      pure.length > 0,
    ),
    toSection('What it takes', 'Medians over repetitions, by width.', toStrategyKey(views, work), toCosts(views, work)),
  ].join('\n')
}

/** Strategies whose sandboxes were all of one kind, or else those that had several. */
function byKinds(points: readonly LadderPoint[], one: boolean): ReturnType<typeof byStrategy> {
  return byStrategy(points).filter(([, line]) => {
    const kinds = partsOf(KINDS, line).length
    return one ? kinds === 1 : kinds > 1
  })
}

/** `told`: the note says something even without a picture. */
function toSection(title: string, note: string, key: string, boxes: readonly string[], told = false): string {
  const filled = boxes.filter(box => box !== '')
  if (filled.length === 0 && !told) return ''
  const smalls = filled.length === 0 ? '' : `${key}<div class="smalls">${filled.join('\n')}</div>`
  return `<section><h2>${title}</h2><p class="note">${escapeText(note)}</p>${smalls}</section>`
}

function toStacked(
  { strategies }: Views,
  lines: ReturnType<typeof byStrategy>,
  parts: readonly Part[],
  what: string,
  shares = false,
): readonly string[] {
  return lines.flatMap(([strategy, line], index) => {
    const points = line.filter(point => parts.some(({ column }) => (point.figure(column)?.mean ?? 0) > 0))
    if (points.length === 0) return []
    const { name } = toLook(strategy, strategies)
    const title = shares ? `${name}: where sandboxes came from` : `${name}: where the time goes`
    return [toFigureBox(name, '', drawStacked({ id: `${what}-${index}`, points, parts, shares, title }))]
  })
}

function toCosts(views: Views, work: Work): readonly string[] {
  const each = work === 'infra' ? 'sandbox' : 'rollout'
  const lines = [
    { column: 'engine_cpu_ms', title: `Engine CPU per ${each}`, note: 'giving back included', tell: toMilliseconds },
    {
      column: 'rss_mib',
      title: `Memory per ${each}`,
      note: 'RSS above rest, by those at once',
      tell: (mib: number) => `${toTick(mib)} MiB`,
    },
    { column: 'loop_p99_ms', title: 'Loop delay, p99', note: 'of the main thread', tell: toMilliseconds },
    {
      column: 'fill_s',
      title: 'Fill time',
      note: 'until what is held ready was',
      tell: (seconds: number) => toMilliseconds(seconds * 1_000),
      least: 0.1,
    },
    {
      column: 'rollouts_per_s',
      title: 'Rollouts a second',
      note: 'whole ones',
      tell: (rate: number) => `${toTick(rate)}/s`,
    },
  ] as const
  return lines.map(({ note, ...line }) =>
    toFigureBox(line.title, note, drawLines(views, work, { ...line, id: `${work}-${line.column}` })),
  )
}

export const toStrategyKey = (views: Views, work: Work): string =>
  toKey(byStrategy(pointsOf(views.own, work)).map(([strategy]) => toLook(strategy, views.strategies)))
