import { useState } from 'preact/hooks'
import type { ViewProps } from '../app.tsx'
import { WINDOWS, type WindowName } from '../model/lane-window.ts'
import type { LaneItem } from '../model/lanes.ts'
import { clockOf, countUnderWay, type PageState } from '../model/state.ts'
import { findStragglers, type Straggler, wasStraggler } from '../model/stragglers.ts'
import { PHASE_ORDER } from '../palette.ts'
import { Empty, Fold, Panel } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { toHash } from '../route.ts'
import { clockTime, count, duration, elapsed, plural, reward } from '../words.ts'
import { LanesCanvas } from './lanes-canvas.tsx'
import { PhaseSwatch } from './now.tsx'

/** More of them in words are not read. */
const LATE_TOLD = 4
const ROWS = 300

/** Every rollout as a bar, by phase; those that keep their group waiting stand out and are named. */
export function Lanes({ state, place, isDark }: ViewProps) {
  const [window, setWindow] = useState<WindowName>('auto')
  const [isFitted, setFitted] = useState(false)
  const at = clockOf(state, performance.now())
  const stragglers = findStragglers(state.groups, at)
  const late = lateOnes(state, stragglers)
  const items = [...state.lanes.items()]
  if (items.length === 0)
    return (
      <Panel title="Lanes">
        <Empty
          what="No rollout has begun."
          how="Each one is a bar here, coloured by what it is doing, from the moment it has a turn. Of a job that another process runs only those are seen that have ended."
        />
      </Panel>
    )
  return (
    <>
      {state.live.length > 0 && <Late stragglers={stragglers} />}
      <Panel
        title="Lanes"
        note={`${tellUnderWay(state)}, ${count(items.length - state.live.length)} ended`}
        controls={
          <>
            <label>
              Time
              <select
                value={window}
                onChange={event => setWindow(WINDOWS.find(each => each === event.currentTarget.value) ?? 'auto')}
              >
                {WINDOWS.map(each => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            <label>
              <input type="checkbox" checked={isFitted} onChange={event => setFitted(event.currentTarget.checked)} />
              All lanes at once
            </label>
          </>
        }
      >
        <LanesCanvas
          state={state}
          window={window}
          isFitted={isFitted}
          late={late}
          isDark={isDark}
          label={`Swim lanes of ${count(items.length)} rollouts by phase; arrow keys go from one to the next, Enter opens it`}
          onOpen={runId => {
            location.hash = toHash({ ...place, tab: 'run', id: runId })
          }}
        />
        <Legend />
        <Fold summary="Lanes: the table">{() => <LaneTable items={items} late={late} at={at} />}</Fold>
      </Panel>
    </>
  )
}

/** Of very wide jobs the feed lists only those that have been under way longest. */
function tellUnderWay(state: PageState): string {
  const all = countUnderWay(state)
  const listed = state.live.length
  return `${plural(all, 'rollout')} under way${listed < all ? `, the ${count(listed)} that are so longest drawn` : ''}`
}

/** Those that are late now, and those that were. */
function lateOnes({ runs, groups }: PageState, stragglers: readonly Straggler[]): ReadonlySet<string> {
  const were = runs.filter(run => wasStraggler(groups.get(run.groupId), run.runId))
  return new Set([...stragglers, ...were].map(({ runId }) => runId))
}

function Late({ stragglers }: { readonly stragglers: readonly Straggler[] }) {
  return (
    <Panel
      title="Stragglers"
      note={
        stragglers.length === 0
          ? 'No rollout is far beyond its siblings.'
          : `${plural(stragglers.length, 'rollout keeps its group', 'rollouts keep their groups')} waiting${stragglers.length > LATE_TOLD ? `; the ${LATE_TOLD} that are furthest beyond:` : ''}`
      }
    >
      {/* Its room is kept, so that the lanes below do not jump. */}
      <ul class="late">
        {stragglers.slice(0, LATE_TOLD).map(({ runId, slug, member, phase, elapsedMs, medianMs }) => (
          <li key={runId}>
            <b>
              {slug}, member {member}
            </b>
            <span>
              {phase}, {elapsed(elapsedMs)} so far; its siblings took {duration(medianMs)}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Legend() {
  return (
    <ul class="legend">
      {PHASE_ORDER.map(phase => (
        <li key={phase}>
          <PhaseSwatch phase={phase} />
          {phase}
        </li>
      ))}
      <li>
        <span class="swatch ring" />
        <span class="alarm">▶</span> far beyond its siblings
      </li>
      <li>
        <span class="swatch" style={{ background: '#d55e00', width: '4px', height: '14px' }} /> ended without a grade
      </li>
    </ul>
  )
}

function LaneTable({
  items,
  late,
  at,
}: {
  readonly items: readonly LaneItem[]
  readonly late: ReadonlySet<string>
  readonly at: number
}) {
  const rank = ({ runId, endedAt }: LaneItem) => (endedAt !== null ? 2 : late.has(runId) ? 0 : 1)
  const rows = items
    .toSorted(
      (one, other) =>
        rank(one) - rank(other) || (other.endedAt ?? 0) - (one.endedAt ?? 0) || one.startedAt - other.startedAt,
    )
    .slice(0, ROWS)
  return (
    <DataTable
      caption={`Rollouts, those under way first${items.length > ROWS ? `; ${count(ROWS)} of ${count(items.length)}` : ''}`}
      columns={[
        { name: 'rollout' },
        { name: 'member', kind: 'number' },
        { name: 'attempt', kind: 'number' },
        { name: 'what' },
        { name: 'began' },
        { name: 'in all', kind: 'number' },
        { name: 'late' },
      ]}
      rows={rows.map(item => ({
        key: item.runId,
        cells: [
          item.slug,
          item.member,
          item.attempt,
          toWhat(item),
          clockTime(item.startedAt),
          duration((item.endedAt ?? at) - item.startedAt),
          late.has(item.runId) ? 'yes' : '',
        ],
      }))}
    />
  )
}

function toWhat({ run, endedAt, phase }: LaneItem): string {
  if (run !== null) return run.reward === null ? run.outcome : `reward ${reward(run.reward)}`
  return endedAt === null ? phase : 'ended'
}
