import { renderTable } from '../../report/table.ts'
import { decimal, duration, percent } from '../../report/units.ts'
import type { EvaluationRecord, StepRecord } from '../records.ts'
import { wilsonInterval } from './interval.ts'
import { isPublishedTask, PUBLISHED, publishedSteps } from './published.ts'
import type { EvaluationRow, Receipt } from './receipt.ts'

const SKIPPED = {
  'no-spread': 'no group’s rewards differ',
  'no-groups': 'no group was whole',
  'nothing-accepted': 'the trainer accepted nothing',
} as const

/** One line a step, for people: `step 3/10  57/128 solved 44.5 %  spread 0.43  loss -12.3  8 chunks  …`. */
export function renderStep(record: StepRecord, steps: number): string {
  const { end } = record
  const dropped = Object.entries(record.groups.dropped).map(([reason, count]) => `${count} dropped (${reason})`)
  return [
    `step ${record.step + 1}/${steps}`,
    `${record.solved}/${record.runs} solved ${percent(record.passRate)}`,
    ...(record.errored > 0 ? [`${record.errored} failed`] : []),
    `spread ${decimal(record.groupSpread)}`,
    ...(end.type === 'skipped'
      ? [`skipped: ${SKIPPED[end.reason]}`]
      : [`loss ${decimal(record.loss, 1)}`, `${record.chunks} chunks`]),
    ...(record.groups.added > 0 ? [`${record.groups.added} groups added`] : []),
    ...dropped,
    `rollouts ${duration(record.rolloutMs)}`,
    `training ${duration(record.trainMs)}`,
    `policy ${record.optimStep ?? Object.keys(record.versions).at(-1) ?? '–'}`,
  ].join('  ')
}

/** `held-out after 10 steps: 497/512 solved 97.1 % (95.2-98.2)  31.20 s`. */
export function renderEvaluation(record: EvaluationRecord): string {
  const [low, high] = wilsonInterval(record.solved, record.runs - record.errored)
  const when = record.afterSteps === 0 ? 'before training' : `after ${count(record.afterSteps, 'step')}`
  return [
    `${record.split} ${when}: ${record.solved}/${record.runs} solved ${percent(record.passRate)} (${points(low)}-${points(high)})`,
    ...(record.errored > 0 ? [`${record.errored} failed`] : []),
    duration(record.wallMs),
  ].join('  ')
}

/** The closing table: ours a step, and the published run's beside it where the tasks are the same. */
export function renderTraining(receipt: Receipt): string {
  const beside = isPublishedTask(receipt.name)
  const theirs = new Map(beside ? publishedSteps().map(row => [row.step, row]) : [])
  const head = ['step', 'solved', 'pass rate', 'spread', 'rollouts', 'training', 'whole step']
  const rows = receipt.steps.map(row => {
    const other = theirs.get(row.step)
    const ours = [
      row.step + 1,
      `${row.solved}/${row.runs}`,
      percent(row.pass_rate),
      decimal(row.group_spread),
      seconds(row.rollout_s),
      row.status === 'skipped' ? 'skipped' : seconds(row.train_s),
      seconds(row.wall_s),
    ]
    if (!beside) return ours
    return [...ours, percent(other?.pass_rate ?? null), seconds(other?.rollout_s), seconds(other?.train_s)]
  })
  const table = renderTable(
    beside ? [...head, `${PUBLISHED.model}`, 'its rollouts', 'its training'] : head,
    rows.length === 0 ? [['–']] : rows,
  )
  return [table, ...changes(receipt), ...totals(receipt)].join('\n')
}

/** For each split, from its first evaluation to its last. */
function changes({ name, evaluations }: Receipt): string[] {
  return [...new Set(evaluations.map(row => row.split))].map(split => {
    const rows = evaluations.filter(row => row.split === split)
    const [first, last] = [rows[0], rows.at(-1)]
    if (first === undefined || last === undefined) return ''
    const [before, after] = PUBLISHED.heldOut
    const published =
      split === 'held-out' && isPublishedTask(name)
        ? `; published: ${percent(before.passRate)} → ${percent(after.passRate)}`
        : ''
    if (first === last) return `${split}: ${rate(last)} after ${count(last.after_steps, 'step')}${published}`
    return `${split}: ${rate(first)} → ${rate(last)} in ${count(last.after_steps - first.after_steps, 'step')}${published}`
  })
}

function totals({ steps, evaluations }: Receipt): string[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) * 1000
  const stepsMs = sum(steps.map(row => row.wall_s))
  const evaluationsMs = sum(evaluations.map(row => row.wall_s))
  return [`${count(steps.length, 'step')} in ${duration(stepsMs)}, evaluations ${duration(evaluationsMs)}`]
}

/** From the counts again: the row's own interval is rounded already. */
function rate({ pass_rate, runs, solved, errored }: EvaluationRow): string {
  const [low, high] = wilsonInterval(solved, runs - errored)
  return `${percent(pass_rate)} (${points(low)}-${points(high)})`
}

function points(share: number): string {
  return (share * 100).toFixed(1)
}

function seconds(value: number | undefined): string {
  return value === undefined ? '–' : duration(value * 1000)
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
