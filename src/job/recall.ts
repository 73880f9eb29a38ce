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
  /** The group as the job keeps it: with a journal, trajectories are read from there when somebody wants them. */
  keep(group: Group): Group
  /** Groups of an earlier process that ended, and the plans that are still open with what they have. */
  sortPlans(
    plans: readonly GroupPlan[],
  ): Promise<{ readonly ended: readonly Group[]; readonly open: readonly PlannedGroup[] }>
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

  return {
    remember() {},
    durableRuns,
    keep: group => ({ ...group, runs: group.runs.map(toKept) }),
    async sortPlans(plans) {
      if (!resumed) return allOpen(plans)
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
      return { ended, open }
    },
  }
}

/** Without a journal the collector holds the runs of open groups; their headers are enough to start only what is missing. */
function makeMemoryRecall(): Recall {
  const headers = new Map<RunId, RunHeader>()
  return {
    remember: header => void headers.set(header.runId, header),
    async durableRuns(plan) {
      return plan.members.flatMap(({ runId }) => {
        const header = headers.get(runId)
        return header === undefined ? [] : [{ header, trajectory: NOTHING }]
      })
    },
    keep: group => group,
    async sortPlans(plans) {
      // What a cancelled run left of them is gone: the collector keeps nothing of a group that was left.
      for (const { members } of plans) for (const { runId } of members) headers.delete(runId)
      return allOpen(plans)
    },
  }
}

function allOpen(plans: readonly GroupPlan[]) {
  return { ended: [], open: plans.map(plan => ({ plan, durable: [] })) }
}
