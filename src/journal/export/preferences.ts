import type { RunHeader } from '../../rollout/run.ts'
import { type Message, messages as messageColumn, toConversation, weighMessages } from './chat.ts'
import { column, DOUBLE, integer, leaf, text } from './columns.ts'
import { readTrajectory } from './groups.ts'
import type { ExportShape } from './shape.ts'

/** Two attempts at one task of which one had the higher reward: what trainers on preferences read (DPO and its kin). */
export interface PreferencesRow {
  readonly group_id: string
  /** The task's slug. */
  readonly task: string
  readonly step: number
  readonly prompt: readonly Message[]
  readonly chosen: readonly Message[]
  readonly rejected: readonly Message[]
  readonly chosen_reward: number
  readonly rejected_reward: number
  readonly chosen_run_id: string
  readonly rejected_run_id: string
}

/**
 * Pairs within a group: the best with the worst, the second best with the second worst, as long as the rewards differ, so that no
 * run is in two. Only runs that were given the same prompt are compared; ungraded ones never are.
 */
export const preferences: ExportShape<PreferencesRow> = {
  noun: 'pairs',
  async *rows(journal, { groupId, headers }) {
    for (const { better, worse } of toPairs(headers)) {
      const chosen = toConversation(await readTrajectory(journal, better))
      const rejected = toConversation(await readTrajectory(journal, worse))
      if (JSON.stringify(chosen.prompt) !== JSON.stringify(rejected.prompt)) continue
      yield {
        group_id: groupId,
        task: better.task.slug,
        step: better.step,
        prompt: chosen.prompt,
        chosen: chosen.completion,
        rejected: rejected.completion,
        chosen_reward: better.reward,
        rejected_reward: worse.reward,
        chosen_run_id: better.runId,
        rejected_run_id: worse.runId,
      }
    }
  },
  columns: [
    text('group_id', row => row.group_id),
    text('task', row => row.task),
    integer('step', row => row.step),
    messageColumn('prompt', row => row.prompt),
    messageColumn('chosen', row => row.chosen),
    messageColumn('rejected', row => row.rejected),
    column(leaf('chosen_reward', DOUBLE), row => row.chosen_reward),
    column(leaf('rejected_reward', DOUBLE), row => row.rejected_reward),
    text('chosen_run_id', row => row.chosen_run_id),
    text('rejected_run_id', row => row.rejected_run_id),
  ],
  weigh: ({ prompt, chosen, rejected }) => weighMessages(prompt) + weighMessages(chosen) + weighMessages(rejected),
}

type Graded = RunHeader & { readonly reward: number }

/** Among equals the earlier member stands first, so that the same runs give the same pairs. */
function toPairs(headers: readonly RunHeader[]): { readonly better: Graded; readonly worse: Graded }[] {
  const graded = headers.filter(isGraded).sort((one, other) => other.reward - one.reward || one.member - other.member)
  return Array.from({ length: Math.floor(graded.length / 2) }, (_, place) => {
    const [better, worse] = [graded[place], graded.at(-1 - place)]
    return better === undefined || worse === undefined || better.reward <= worse.reward ? [] : [{ better, worse }]
  }).flat()
}

function isGraded(header: RunHeader): header is Graded {
  return header.reward !== null
}
