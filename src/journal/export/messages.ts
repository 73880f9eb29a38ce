import type { RunHeader } from '../../rollout/run.ts'
import type { Trajectory } from '../../rollout/trajectory.ts'
import { toAdvantages } from './advantages.ts'
import { type Message, messages as messageColumn, toConversation, weighMessages } from './chat.ts'
import { type Column, figure, integer, text } from './columns.ts'
import { readTrajectory } from './groups.ts'
import type { ExportShape } from './shape.ts'

/** One run as a conversation: what trainers on whole conversations read (TRL's `messages` column). */
export interface MessagesRow extends RunColumns {
  readonly messages: readonly Message[]
  /** So many of `messages` are the prompt; the rest is what the agent did. */
  readonly num_prompt_messages: number
}

/** What every row that trains says of the run it comes from. */
export interface RunColumns {
  readonly run_id: string
  readonly group_id: string
  /** The task's slug. */
  readonly task: string
  readonly step: number
  readonly member: number
  /** Null where nothing was graded. */
  readonly reward: number | null
  /** Within its group, see `toAdvantages`; null where the run has no reward. */
  readonly advantage: number | null
  /** Which weights it comes from, as their server names them; null where that named none, or several. */
  readonly policy_version: string | null
}

export const RUN_COLUMNS: readonly Column<RunColumns>[] = [
  text('run_id', row => row.run_id),
  text('group_id', row => row.group_id),
  text('task', row => row.task),
  integer('step', row => row.step),
  integer('member', row => row.member),
  figure('reward', row => row.reward),
  figure('advantage', row => row.advantage),
  text('policy_version', row => row.policy_version, 'OPTIONAL'),
]

export const messages: ExportShape<MessagesRow> = {
  noun: 'conversations',
  async *rows(journal, { headers }) {
    const advantages = toAdvantages(headers)
    for (const header of headers) {
      const trajectory = await readTrajectory(journal, header)
      const { prompt, completion } = toConversation(trajectory)
      yield {
        ...toRunColumns(header, advantages, versionOf(trajectory.turns)),
        messages: [...prompt, ...completion],
        num_prompt_messages: prompt.length,
      }
    }
  },
  columns: [
    ...RUN_COLUMNS,
    integer('num_prompt_messages', row => row.num_prompt_messages),
    messageColumn('messages', row => row.messages),
  ],
  weigh: row => weighMessages(row.messages),
}

export function toRunColumns(
  { runId, groupId, task, step, member, reward }: RunHeader,
  advantages: ReadonlyMap<string, number>,
  version: string | null,
): RunColumns {
  return {
    run_id: runId,
    group_id: groupId,
    task: task.slug,
    step,
    member,
    reward,
    advantage: advantages.get(runId) ?? null,
    policy_version: version,
  }
}

function versionOf(turns: Trajectory['turns']): string | null {
  const versions = new Set(turns.flatMap(({ version }) => version ?? []))
  const [first] = versions
  return versions.size === 1 ? (first ?? null) : null
}
