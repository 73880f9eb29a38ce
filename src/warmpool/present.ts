/** What is made of a measurement, from what its receipt holds alone: the report, the picture, the page. */
import type { Receipt } from '../receipts/index.ts'
import { drawPoolPicture, type PoolPicture } from './chart.ts'
import type { LevelPhase, PoolMeasurement } from './columns.ts'
import { groupBy, median } from './median.ts'
import { toPoolPage } from './page.ts'
import { fromPoolReceipt, type PoolReceiptKind } from './receipt.ts'
import { reportOf } from './render.ts'
import { bestParents } from './render-fork-bench.ts'

export interface Presented {
  readonly svg: string
  readonly html: string
}

/** Throws what `fromPoolReceipt` throws. The same receipt gives the same bytes. */
export function presentPoolReceipt(receipt: Receipt, kind: PoolReceiptKind, path: string): Presented {
  const measured = fromPoolReceipt(receipt, kind, path)
  const report = reportOf(kind, measured)
  const { provider = '', made = '' } = receipt.about
  const subtitle = [provider, made.slice(0, 10)].filter(part => part !== '').join('; ')
  const svg = drawPoolPicture({
    title: report.title,
    subtitle,
    ...(kind === 'warmpool' ? ofPool(measured) : ofForks(measured)),
  })
  return { svg, html: toPoolPage(report, svg, receipt.about) }
}

type Drawn = Pick<PoolPicture, 'moments' | 'bars'>

function ofPool({ levels, moments }: PoolMeasurement): Drawn {
  const of = (phase: LevelPhase) => levels.filter(row => row.phase === phase)
  const batches = [...groupBy(of('batch'), 'batch')].map(([batch, rows]) => [`batch ${batch}`, rows] as const)
  return { moments, bars: toBars([['cold', of('cold')], ['warm', of('warm')], ...batches]) }
}

/** The time line of the number of parents that did best. */
function ofForks({ levels, moments }: PoolMeasurement): Drawn {
  const forks = groupBy(
    levels.filter(({ phase }) => phase === 'fork'),
    'parents',
  )
  const best = bestParents(forks)
  const cold = levels.filter(({ phase }) => phase === 'cold')
  const cases = [...forks].map(
    ([parents, rows]) => [`${parents} ${parents === 1 ? 'parent' : 'parents'}`, rows] as const,
  )
  return { moments: moments.filter(({ parents }) => parents === best), bars: toBars([['cold', cold], ...cases]) }
}

const toBars = (kinds: readonly (readonly [string, PoolMeasurement['levels']])[]): PoolPicture['bars'] =>
  kinds
    .filter(([, rows]) => rows.length > 0)
    .map(([name, rows]) => ({ name, p50: median(rows, 'ready_p50_s'), p95: median(rows, 'ready_p95_s') }))
