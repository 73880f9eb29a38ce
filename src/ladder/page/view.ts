import { toLadderRows } from '../../receipts/ladder-rows.ts'
import { type LadderPoint, toLadderPoints } from '../../receipts/over-repetitions.ts'
import type { Receipt } from '../../receipts/receipt.ts'
import type { Work } from '../level.ts'
import { toLabel } from './words.ts'

/** A receipt as it is shown. */
export interface View {
  readonly receipt: Receipt
  /** What it is called beside another. */
  readonly name: string
  readonly points: readonly LadderPoint[]
}

/** What is shown on one page: a receipt, and the one that it is compared with. */
export interface Views {
  readonly own: View
  readonly other?: View
  /** Strategies of both, as first met. */
  readonly strategies: readonly string[]
  /** What the receipt itself measured. */
  readonly works: readonly Work[]
}

/** Of one or two receipts; further ones are passed over. Throws what `toLadderRows` throws, except that a ladder may have no level yet. */
export function toViews([own, other]: readonly Receipt[]): Views {
  if (own === undefined) throw new RangeError('a page is made of at least one receipt')
  const ownView = toView(own, 'this receipt')
  const otherView = other === undefined ? undefined : toView(other, toName(other))
  const points = [...ownView.points, ...(otherView?.points ?? [])]
  return {
    own: ownView,
    ...(otherView === undefined ? {} : { other: otherView }),
    strategies: [...new Set(points.map(({ strategy }) => strategy))],
    works: [...new Set(ownView.points.map(({ work }) => work))],
  }
}

export const pointsOf = (view: View | undefined, work: Work): readonly LadderPoint[] =>
  (view?.points ?? []).filter(point => point.work === work)

export const widthsOf = (points: readonly LadderPoint[]): readonly number[] =>
  [...new Set(points.map(({ n }) => n))].toSorted((one, other) => one - other)

/** The points of one strategy after the other, each from narrow to wide. */
export function byStrategy(points: readonly LadderPoint[]): readonly (readonly [string, readonly LadderPoint[]])[] {
  const lines = new Map<string, LadderPoint[]>()
  for (const point of points) lines.set(point.strategy, [...(lines.get(point.strategy) ?? []), point])
  return [...lines]
}

function toView(receipt: Receipt, name: string): View {
  const points = receipt.rows.length === 0 ? [] : toLadderPoints(toLadderRows(receipt, name))
  return { receipt, name, points }
}

/** A receipt may say what it is called; else it goes by its day. */
function toName({ about }: Receipt): string {
  const { title, made } = about
  if (title !== undefined && title !== '') return toLabel(title)
  return made === undefined ? 'other receipt' : `receipt of ${toLabel(made).slice(0, 10)}`
}
