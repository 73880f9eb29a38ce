import { Component } from 'preact'
import { useState } from 'preact/hooks'
import type { FeedChunk } from '../../../feed/messages.ts'
import type { ViewProps } from '../app.tsx'
import type { GroupBook, GroupView, Member } from '../model/groups.ts'
import { clockOf } from '../model/state.ts'
import { PHASE_LOOKS } from '../palette.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { toHash } from '../route.ts'
import { clockTime, count, decimal, duration, elapsed, plural, reward } from '../words.ts'

/** Shown at once, and added when more are asked for. */
const GROUPS_SHOWN = 36

/** Groups as they form, those that are over, and which training call took which. */
export function Groups({ state, place }: ViewProps) {
  const { groups, chunks } = state
  const at = clockOf(state, performance.now())
  const forming = groups.forming()
  const ended = groups.ended()
  return (
    <>
      <Panel title="Forming" note={plural(forming.length, 'group')} controls={<Signs />}>
        {forming.length === 0 ? (
          <Empty
            what="No group is forming."
            how="A group appears with its first member and stays here until its last one has ended."
          />
        ) : (
          <GroupList groups={forming} at={at} job={place.job} />
        )}
      </Panel>
      <Panel title="Over" note={`the newest ${count(ended.length)}, the last one first`}>
        {ended.length === 0 ? (
          <Empty
            what="No group has ended yet."
            how="A group ends when every member has its grade or is lost for good."
          />
        ) : (
          <GroupList groups={ended} at={at} job={place.job} />
        )}
      </Panel>
      <Panel title="Chunks" note="whole groups that went into one training call together">
        {chunks.length === 0 ? (
          <Empty
            what="Nothing has been trained on."
            how="Chunks appear with `troupe train`: whole groups are trained on while others still roll out."
          />
        ) : (
          <Chunks chunks={chunks} groups={groups} />
        )}
      </Panel>
    </>
  )
}

function GroupList({
  groups,
  at,
  job,
}: {
  readonly groups: readonly GroupView[]
  readonly at: number
  readonly job: string | undefined
}) {
  const [most, setMost] = useState(GROUPS_SHOWN)
  return (
    <>
      <ul class="groups">
        {groups.slice(0, most).map(group => (
          <Group key={group.groupId} group={group} at={at} job={job} />
        ))}
      </ul>
      {groups.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + GROUPS_SHOWN)}>
          Show {count(Math.min(GROUPS_SHOWN, groups.length - most))} more of {count(groups.length - most)}
        </button>
      )}
    </>
  )
}

function Group({
  group,
  at,
  job,
}: {
  readonly group: GroupView
  readonly at: number
  readonly job: string | undefined
}) {
  const { slug, groupId, end } = group
  return (
    <li class={`group ${end?.end ?? ''}`}>
      <div class="head">
        <b title={`${slug}, ${groupId}`}>{slug}</b>
        <span>{tellGroup(group, at)}</span>
      </div>
      <Cells group={group} revision={group.revision} job={job} />
    </li>
  )
}

interface CellsProps {
  readonly group: GroupView
  readonly revision: number
  readonly job: string | undefined
}

/** Groups are changed in place and there are many: only those of another revision are made anew. */
class Cells extends Component<CellsProps> {
  override shouldComponentUpdate({ group, revision, job }: CellsProps): boolean {
    return group !== this.props.group || revision !== this.props.revision || job !== this.props.job
  }

  override render({ group: { slug, members }, job }: CellsProps) {
    return (
      <ul class="cells" aria-label={`members of ${slug}`}>
        {Array.from(members, (member, index) => (
          <li key={index}>
            <Cell member={member} index={index} job={job} />
          </li>
        ))}
      </ul>
    )
  }
}

export function tellGroup({ step, end, startedAt, chunk }: GroupView, at: number): string {
  if (end === null) return `step ${step + 1}, ${elapsed(at - startedAt)}`
  const graded = end.rewards.flatMap(each => (each === null ? [] : [each]))
  const mean = graded.length === 0 ? null : graded.reduce((sum, each) => sum + each, 0) / graded.length
  const trained = chunk === null ? '' : `, call ${chunk.call + 1}`
  return `step ${step + 1}, ${end.end === 'complete' ? '' : `${end.end}, `}mean ${decimal(mean)}${trained}`
}

function Cell({
  member,
  index,
  job,
}: {
  readonly member: Member | undefined
  readonly index: number
  readonly job: string | undefined
}) {
  if (member === undefined)
    return (
      <span class="cell absent" title={`member ${index}: not begun`}>
        ·<span class="unseen">member {index}: not begun</span>
      </span>
    )
  if (member.type === 'running') {
    const { phase } = member.live
    return (
      <span class="cell" style={{ borderBottomColor: PHASE_LOOKS[phase].colour }} title={`member ${index}: ${phase}`}>
        <span aria-hidden="true">{phase.slice(0, 2)}</span>
        <span class="unseen">
          member {index}: {phase}
        </span>
      </span>
    )
  }
  const { run } = member
  const says = `member ${index}: ${run.reward === null ? run.outcome : `reward ${reward(run.reward)}`}`
  return (
    <a
      class={`cell ${kindOf(run.reward)}`}
      href={toHash({ tab: 'run', id: run.runId, ...(job === undefined ? {} : { job }) })}
      title={says}
    >
      <span aria-hidden="true">{run.reward === null ? '✕' : reward(run.reward)}</span>
      <span class="unseen">{says}</span>
    </a>
  )
}

function kindOf(value: number | null): string {
  if (value === null) return 'failed'
  if (value >= 1) return 'full'
  return value > 0 ? 'part' : 'zero'
}

function Signs() {
  return (
    <ul class="legend">
      <li>
        <span class="cell full">1</span> full reward
      </li>
      <li>
        <span class="cell part">.5</span> part of it
      </li>
      <li>
        <span class="cell zero">0</span> none
      </li>
      <li>
        <span class="cell failed">✕</span> not graded
      </li>
      <li>
        <span class="cell" style={{ borderBottomColor: PHASE_LOOKS.agent.colour }}>
          ag
        </span>{' '}
        under way, by phase
      </li>
    </ul>
  )
}

function Chunks({ chunks, groups }: { readonly chunks: readonly FeedChunk[]; readonly groups: GroupBook }) {
  return (
    <DataTable
      caption="Training calls, newest first"
      columns={[
        { name: 'step' },
        { name: 'call', kind: 'number' },
        { name: 'groups', kind: 'number' },
        { name: 'samples', kind: 'number' },
        { name: 'loss', kind: 'number' },
        { name: 'took', kind: 'number' },
        { name: 'ended' },
        { name: 'which groups', kind: 'wide' },
      ]}
      rows={chunks.toReversed().map(chunk => ({
        key: `${chunk.step} ${chunk.call}`,
        cells: [
          chunk.step + 1,
          chunk.call + 1,
          count(chunk.groups.length),
          count(chunk.datums),
          decimal(chunk.loss, 1),
          duration(chunk.tookMs),
          clockTime(chunk.endedAt),
          tellChunk(chunk, groups),
        ],
      }))}
    />
  )
}

function tellChunk({ groups: taken, dropped, error }: FeedChunk, groups: GroupBook): string {
  const name = (groupId: string) => groups.get(groupId)?.slug ?? groupId
  const left = dropped.length === 0 ? '' : `; left out: ${dropped.map(name).join(', ')}`
  return `${error === undefined ? '' : `failed: ${error}; `}${taken.map(name).join(', ')}${left}`
}
