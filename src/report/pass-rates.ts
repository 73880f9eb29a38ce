import type { RunHeader } from '../rollout/run.ts'
import type { Task } from '../taskset/task.ts'
import { standardDeviation } from './spread.ts'

/** How often something passed. Rates are of the graded runs; null when there are none. */
export interface PassRate {
  readonly runs: number
  readonly graded: number
  readonly passed: number
  readonly passRate: number | null
  readonly meanReward: number | null
}

export interface Variant extends PassRate {
  readonly slug: string
  /** The slug or, where that is the default one with its hash, template and arguments: `fix_calc variant=3`. */
  readonly label: string
  readonly columns: Readonly<Record<string, unknown>>
  /** Of the graded rewards. */
  readonly rewardStd: number | null
}

/** The pass rate for each value of one of the tasks' columns, for instance the number of bugs. */
export interface FacetTable {
  readonly facet: string
  readonly values: readonly (PassRate & { readonly value: string; readonly tasks: number })[]
}

/** A column with more values than this, or with one for each task, names tasks rather than kinds of them; one value tells nothing. */
const MAX_FACET_VALUES = 12

/** One entry a task slug, in the order of their arguments, numbers as people sort them. */
export function toVariants(runs: readonly RunHeader[], passAt: number): Variant[] {
  return [...groupBy(runs, run => run.task.slug)]
    .map(([slug, members]) => ({ slug, members, task: members[0]?.task }))
    .sort((one, other) => compareNaturally(order(one), order(other)))
    .map(({ slug, members, task }) => ({
      slug,
      label: toLabel(slug, task),
      columns: task?.columns ?? {},
      ...toPassRate(members, passAt),
      rewardStd: standardDeviation(members.flatMap(run => (run.reward === null ? [] : [run.reward]))),
    }))
}

export function toFacetTables(runs: readonly RunHeader[], passAt: number): FacetTable[] {
  const tasks = new Set(runs.map(run => run.task.slug)).size
  const facets = new Set(runs.flatMap(run => Object.keys(run.task.columns ?? {})))
  return [...facets].sort(compareNaturally).flatMap(facet => {
    const byValue = groupBy(
      runs.filter(run => run.task.columns?.[facet] !== undefined),
      run => toText(run.task.columns?.[facet]),
    )
    if (byValue.size < 2 || byValue.size > MAX_FACET_VALUES || byValue.size === tasks) return []
    const values = [...byValue]
      .map(([value, members]) => ({
        value,
        tasks: new Set(members.map(run => run.task.slug)).size,
        ...toPassRate(members, passAt),
      }))
      .sort((one, other) => compareNaturally(one.value, other.value))
    return [{ facet, values }]
  })
}

function toPassRate(runs: readonly RunHeader[], passAt: number): PassRate {
  const rewards = runs.flatMap(run => (run.reward === null ? [] : [run.reward]))
  const passed = rewards.filter(reward => reward >= passAt).length
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  return {
    runs: runs.length,
    graded: rewards.length,
    passed,
    passRate: rewards.length === 0 ? null : passed / rewards.length,
    meanReward: rewards.length === 0 ? null : sum / rewards.length,
  }
}

/** Default slugs end in a hash: what was hashed says more about the order than they do. */
function order({ slug, task }: { readonly slug: string; readonly task: Task | undefined }): string {
  return `${toText(task?.columns?.variant ?? task?.args ?? {})} ${slug}`
}

function toLabel(slug: string, task: Task | undefined): string {
  if (task === undefined || !/^-[0-9a-f]{8}$/.test(slug.replace(task.id, ''))) return slug
  const args = Object.entries(task.args).map(([name, value]) => `${name}=${toText(value)}`)
  return `${task.id} ${args.join(' ')}`
}

function groupBy(runs: readonly RunHeader[], key: (run: RunHeader) => string): Map<string, RunHeader[]> {
  const groups = new Map<string, RunHeader[]>()
  for (const run of runs) {
    const members = groups.get(key(run))
    if (members === undefined) groups.set(key(run), [run])
    else members.push(run)
  }
  return groups
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function compareNaturally(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}
