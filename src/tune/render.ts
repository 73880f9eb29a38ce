import { renderTable } from '../report/table.ts'
import { percent } from '../report/units.ts'
import { toAdvice, toCost, toSeconds } from './advice.ts'
import { toName } from './candidates.ts'
import type { Evaluated } from './evaluate.ts'
import { STRATEGIES } from './request.ts'
import type { TuneResult } from './tune.ts'

/** The recommendation, the plans worth comparing, and what happens if things are otherwise, as text. */
export function renderTune(result: TuneResult): string {
  const { what, figures, why, check, use } = toAdvice(result)
  const { knee, request, sensitivity, work } = result
  const kneeText =
    knee === undefined
      ? 'The curve has no knee.'
      : `The knee of the curve (farthest from the straight line between its ends) is ${toName(knee.candidate)}.`
  return [
    what,
    ...figures.map(sentence => `  ${sentence}`),
    `Why: ${why}`,
    check,
    '',
    renderPlans(result),
    kneeText,
    '',
    'The same plan, if things are not as was thought:',
    renderTable(
      ['', 'step', 'hit rate', 'idle s'],
      sensitivity.map(({ what, evaluated }) => [what, ...toCells(evaluated)]),
    ),
    '',
    `${work.simulations} simulations of ${work.sandboxes.toLocaleString('en')} sandboxes, ${request.model.source}, seed ${request.seed}.`,
    'To use it:',
    `  ${use}`,
  ].join('\n')
}

function renderPlans(result: TuneResult): string {
  const { chosen, price } = { ...result, price: result.request.price }
  return renderTable(
    ['plan', 'step', 'hit rate', 'idle s', 'wait p50', 'wait p95', 'cost', 'peak', ''],
    pickRows(result).map(each => [
      toName(each.candidate),
      ...toCells(each),
      toSeconds(each.waitMs.p50),
      toSeconds(each.waitMs.p95),
      toCost(each.cost, price),
      each.peak,
      each === chosen ? 'chosen' : each === result.knee ? 'knee' : '',
    ]),
    { left: [0, 8] },
  )
}

const toCells = ({ stepMs, hitRate, idleSeconds }: Evaluated): readonly string[] => [
  toSeconds(stepMs.mean),
  percent(hitRate.mean),
  Math.round(idleSeconds.mean).toLocaleString('en'),
]

/** Cold, the chosen one, the knee, and the quickest and the cheapest of each strategy: in order of their idle time. */
function pickRows({ cold, chosen, knee, evaluated }: TuneResult): readonly Evaluated[] {
  const extremes = STRATEGIES.flatMap(strategy => {
    const own = evaluated.filter(({ candidate }) => candidate.strategy === strategy)
    const [quickest] = own.toSorted((left, right) => left.stepMs.mean - right.stepMs.mean || left.cost - right.cost)
    const [cheapest] = own.toSorted((left, right) => left.cost - right.cost)
    return [quickest, cheapest].filter(each => each !== undefined)
  })
  const rows = new Set([cold, chosen, ...(knee === undefined ? [] : [knee]), ...extremes])
  return [...rows].toSorted((left, right) => left.idleSeconds.mean - right.idleSeconds.mean)
}
