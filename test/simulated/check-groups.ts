import type { GroupId } from '../../src/ids.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { Group } from '../../src/rollout/group.ts'
import { decideGroupEnd } from '../../src/rollout/group-end.ts'
import type { Run } from '../../src/rollout/run.ts'
import type { GroupPlan, MemberPlan } from '../../src/taskset/plan.ts'
import { LATE } from './agent.ts'
import type { GradeBook } from './grade-book.ts'
import type { Scenario } from './scenario.ts'

interface Evidence {
  readonly scenario: Scenario
  readonly plans: readonly GroupPlan[]
  readonly delivered: readonly Group[]
  readonly grades: GradeBook
  readonly journal: Journal | undefined
}

/** What became of all that was planned. */
export interface Account {
  readonly graded: number
  readonly failed: number
  readonly pending: number
}

/** Throws unless every delivered group is whole, itself and there once, every reward is a grader's, and the sum of all members holds. */
export async function checkGroups({ scenario, plans, delivered, grades, journal }: Evidence): Promise<Account> {
  const open = new Map<GroupId, GroupPlan>(plans.map(plan => [plan.groupId, plan]))
  const rewards = new Set<number>()
  let graded = 0
  let failed = 0
  for (const group of delivered) {
    const plan = open.get(group.groupId)
    if (plan === undefined) throw new Error(`${group.groupId} was delivered twice, or never planned`)
    open.delete(group.groupId)
    checkGroup(scenario, plan, group)
    for (const [place, run] of group.runs.entries()) {
      checkRun(run, plan, plan.members[place], grades)
      if (run.reward === null) failed += 1
      else graded += 1
      if (run.reward !== null && rewards.has(run.reward)) throw new Error(`the grade of ${run.runId} was counted twice`)
      if (run.reward !== null) rewards.add(run.reward)
      if (journal !== undefined) await checkDurable(run, journal)
    }
  }
  const pending = [...open.values()].reduce((sum, plan) => sum + plan.members.length, 0)
  const planned = plans.reduce((sum, plan) => sum + plan.members.length, 0)
  if (planned !== graded + failed + pending)
    throw new Error(`${planned} planned, but ${graded} graded, ${failed} failed and ${pending} pending`)
  return { graded, failed, pending }
}

function checkGroup({ strategy }: Scenario, plan: GroupPlan, group: Group): void {
  const planned = plan.members.map(({ runId }) => runId).join(' ')
  const found = group.runs.map(({ runId }) => runId).join(' ')
  if (found !== planned) throw new Error(`${group.groupId} is not whole: it has ${found} of ${planned}`)
  const end = decideGroupEnd(strategy, group.runs)
  if (JSON.stringify(end) !== JSON.stringify(group.end))
    throw new Error(`${group.groupId} ended as ${JSON.stringify(group.end)} and not as ${JSON.stringify(end)}`)
}

function checkRun(run: Run, plan: GroupPlan, member: MemberPlan | undefined, grades: GradeBook): void {
  const { runId, reward, outcome, trajectory, error } = run
  if (trajectory.turns.some(({ text }) => text === LATE)) throw new Error(`${runId} has a turn from after its end`)
  if (reward === null) {
    if (outcome === 'graded') throw new Error(`${runId} counts as graded and has no reward`)
    if (error === undefined) throw new Error(`${runId} has no reward, and nothing says why`)
    return
  }
  const grade = grades.of(reward)
  if (grade === undefined) throw new Error(`${runId} has the reward ${reward}, which no grader gave`)
  if (outcome !== 'graded' && outcome !== 'agent-error') throw new Error(`${runId} ended as ${outcome} with a reward`)
  const isIts = grade.group === plan.index && (grade.seed === undefined || grade.seed === member?.seed)
  if (!isIts) throw new Error(`${runId} has the reward of another: of group ${grade.group}, seed ${grade.seed}`)
}

async function checkDurable({ runId, attempt, reward }: Run, journal: Journal): Promise<void> {
  const kept = (await journal.run(runId))?.header
  if (kept === undefined) throw new Error(`${runId} was delivered and is not durable`)
  if (kept.attempt !== attempt || kept.reward !== reward)
    throw new Error(
      `${runId} was delivered with the reward ${reward} (attempt ${attempt}), but ${kept.reward} (attempt ${kept.attempt}) is durable`,
    )
}
