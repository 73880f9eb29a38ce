import type { Receipt } from '../../receipts/receipt.ts'
import { drawChart, FONT, INK, PAPER, QUIET } from './chart.ts'
import { describeReady, drawReady } from './ready-chart.ts'
import { toViews } from './view.ts'

const WIDTH = 960
const HEIGHT = 560

/**
 * The picture of a ladder: seconds until ready by how many were asked for at once, a line a strategy, on a ground of its own. A second receipt is drawn dashed. The same
 * receipts give the same bytes. Throws what is wrong with a receipt, as `toLadderRows` does.
 */
export function toLadderSvg(receipts: readonly Receipt[]): string {
  const views = toViews(receipts)
  const [work] = views.works
  if (work === undefined) return drawNothing()
  const what = work === 'infra' ? 'a sandbox is ready' : 'a rollout has its sandbox'
  const title = `How long until ${what}, by how many are asked for at once`
  return drawReady(
    views,
    work,
    { width: WIDTH, height: HEIGHT, alone: true },
    {
      id: 'ladder',
      title,
      description: describeReady(views, work),
    },
  )
}

function drawNothing(): string {
  const title = 'A ladder that ended before its first level'
  const style = {
    textStyle: { color: INK, fontSize: 18, fontFamily: FONT },
    subtextStyle: { color: QUIET, fontSize: 13 },
  }
  return drawChart(
    { backgroundColor: PAPER, title: { left: 'center', top: 'middle', text: title, ...style } },
    WIDTH,
    HEIGHT,
    { id: 'ladder', title, description: 'There is nothing to be seen.' },
  )
}
