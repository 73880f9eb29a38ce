import { renderTable } from '../../report/table.ts'
import { decimal, oneLine, percent } from '../../report/units.ts'
import type { Baseline } from './disagreement.ts'

const SLUG_WIDTH = 32

/** The whole for a person: a row a task, the rates, what groups of each size would be worth, and last the verdict. */
export function renderBaseline(baseline: Baseline): string {
  const { graded, runs, solved, passRate, interval, meanReward, sizes } = baseline
  const [low, high] = interval.map(share => (share * 100).toFixed(1))
  const lines = [
    renderTable(
      ['task', 'graded', 'solved', 'failed', 'disagrees'],
      baseline.tasks.map(task => [
        oneLine(task.slug, SLUG_WIDTH),
        task.graded,
        task.solved,
        task.failed,
        task.disagrees ? 'yes' : 'no',
      ]),
    ),
    `${graded} of ${runs} runs graded, ${solved} solved: ${percent(passRate)} (95 %: ${low}-${high}), mean reward ${decimal(meanReward, 3)}`,
  ]
  if (sizes.length > 0) lines.push(`groups that would disagree: ${sizes.map(toShare).join(', ')}`)
  return [...lines, renderVerdict(baseline)].join('\n')
}

/** The verdict and what to do about it, in one line. */
export function renderVerdict({ verdict, groups, disagreeing, passRate }: Baseline): string {
  const share = `${disagreeing} of ${groups} groups disagree`
  switch (verdict) {
    case 'learnable':
      return `learnable: ${share}`
    case 'too-easy':
      return `too easy: ${share} at a pass rate of ${percent(passRate)}. Choose harder tasks, or a smaller model`
    case 'too-hard':
      return `too hard: ${share} at a pass rate of ${percent(passRate)}. Choose easier tasks, a larger group or a better model`
    case 'attempts-agree':
      return `attempts agree: ${share}, whatever the task. Sample at a higher temperature, or grade all or nothing`
    case 'nothing-graded':
      return 'nothing to compare: no task has two graded attempts. See the failures, or use --group 2 or more'
  }
}

function toShare({ group, informative }: { readonly group: number; readonly informative: number }): string {
  return `${percent(informative)} of those of ${group}`
}
