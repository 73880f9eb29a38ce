import type { RunId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Group, GroupRecord } from '../rollout/group.ts'
import { toRun } from '../rollout/pack.ts'
import type { DurableRun, Run, RunHeader } from '../rollout/run.ts'
import type { GroupPlan, PlannedGroup } from '../taskset/plan.ts'

/** What is known of runs that are over, from the journal where there is one and from memory where there is none. */
export interface Recall {
  remember(header: RunHeader): void
  durableRuns(plan: GroupPlan): Promise<readonly DurableRun[]>
  /** The group is over: nobody will ask for its runs to go on with it. */
  forget(group: Group): void
  /** The group as the job keeps it: with a journal, trajectories are read from there when somebody wants them. */
  keep(group: Group): Group
  /** Groups that ended before, and the plans that are still open with what they have. `again`: this process may have run some of them. */
  sortPlans(plans: readonly GroupPlan[], again?: boolean): Promise<Sorted>
}

export interface Sorted {
  readonly ended: readonly Group[]
  readonly open: readonly PlannedGroup[]
  /** Runs of open groups that this process has told of before, and is going to tell of again. */
  readonly retold: number
}

const NOTHING = new Uint8Array(0)

/** `resumed`: an earlier process may have left runs of this job; without that, nobody looks for them. */
export function makeRecall(journal: Journal | undefined, resumed: boolean): Recall {
  if (journal === undefined) return makeMemoryRecall()
  const read = (runId: RunId) => () => journal.trajectory(runId)
  const toKept = (header: RunHeader): Run => toRun(header, read(header.runId))
  const toGroup = (record: GroupRecord): Group => ({
    ...record,
    runs: record.runs.map(toKept),
    bytes: record.runs.reduce((sum, run) => sum + run.bytes, 0),
  })

  async function durableRuns(plan: GroupPlan): Promise<readonly DurableRun[]> {
    const found = await Promise.all(plan.members.map(({ runId }) => journal?.run(runId)))
    return found.flatMap(run => run ?? [])
  }

  async function hasAny(plans: readonly GroupPlan[]): Promise<boolean> {
    for (const plan of plans) if ((await durableRuns(plan)).length > 0) return true
    return false
  }

  return {
    remember() {},
    forget() {},
    durableRuns,
    keep: group => ({ ...group, runs: group.runs.map(toKept) }),
    async sortPlans(plans, again = false) {
      // The ledger is as long as the job: it is not read for plans of which nothing is there.
      if (!resumed && !(again && (await hasAny(plans)))) return allOpen(plans)
      const [first] = plans
      const records = new Map<string, GroupRecord>()
      if (first !== undefined)
        for await (const record of journal.groups(first.jobId)) records.set(record.groupId, record)
      const ended: Group[] = []
      const open: PlannedGroup[] = []
      for (const plan of plans) {
        const record = records.get(plan.groupId)
        if (record === undefined) open.push({ plan, durable: await durableRuns(plan) })
        else ended.push(toGroup(record))
      }
      const retold = again ? open.reduce((sum, { durable }) => sum + durable.length, 0) : 0
      return { ended, open, retold }
    },
  }
}

/** Without a journal the collector holds the runs of open groups; their headers are enough to start only what is missing. */
function makeMemoryRecall(): Recall {
  const headers = new Map<RunId, RunHeader>()
  return {
    remember: header => void headers.set(header.runId, header),
    forget: ({ runs }) => runs.forEach(({ runId }) => void headers.delete(runId)),
    async durableRuns(plan) {
      return plan.members.flatMap(({ runId }) => {
        const header = headers.get(runId)
        return header === undefined ? [] : [{ header, trajectory: NOTHING }]
      })
    },
    keep: group => group,
    async sortPlans(plans) {
      // What a cancelled run left of them is gone: the collector keeps nothing of a group that was left.
      let retold = 0
      for (const { members } of plans) for (const { runId } of members) if (headers.delete(runId)) retold += 1
      return { ...allOpen(plans), retold }
    },
  }
}

function allOpen(plans: readonly GroupPlan[]): Sorted {
  return { ended: [], open: plans.map(plan => ({ plan, durable: [] })), retold: 0 }
}
