import type { FeedFailure } from '../../../feed/messages.ts'
import type { ViewProps } from '../app.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { toHash } from '../route.ts'
import { clockTime, count, moment, percent, plural } from '../words.ts'

/** What went wrong, how often, and what it looked like the first time. */
export function Failures({ state, place }: ViewProps) {
  const { failures, problems, now } = state
  const total = failures.reduce((sum, { count: each }) => sum + each, 0)
  const ended = now?.snapshot?.finishedRuns ?? null
  const share = ended === null || ended === 0 ? '' : `, ${percent(total / ended)} of those that ended`
  return (
    <>
      <Panel title="Without a grade" note={total === 0 ? undefined : `${plural(total, 'rollout')}${share}`}>
        {failures.length === 0 ? (
          <Empty what="Every rollout that ended has its grade." how="Here they are counted by what went wrong first." />
        ) : (
          <ul class="failures">
            {failures.map(failure => (
              <Failure key={`${failure.outcome} ${failure.kind}`} failure={failure} total={total} job={place.job} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Problems" note="what the engine said unasked">
        {problems.length === 0 ? (
          <Empty
            what="The engine had nothing to say."
            how="Lost sandboxes, restarted actors and refused reports are told here."
          />
        ) : (
          <DataTable
            caption="Problems, newest first"
            columns={[{ name: 'at' }, { name: 'of' }, { name: 'kind' }, { name: 'what', kind: 'wide' }]}
            rows={problems.toReversed().map(({ at, kind, tag, message }, index) => ({
              key: `${problems.length - index} ${at}`,
              cells: [clockTime(at), kind, <code key="tag">{tag}</code>, message],
            }))}
          />
        )}
      </Panel>
    </>
  )
}

const WHOSE: Readonly<Record<FeedFailure['outcome'], string>> = {
  graded: 'graded',
  'agent-error': "the agent's",
  'environment-error': "the environment's",
  'infrastructure-error': "the infrastructure's",
  cancelled: 'cancelled',
}

function Failure({
  failure,
  total,
  job,
}: {
  readonly failure: FeedFailure
  readonly total: number
  readonly job: string | undefined
}) {
  const { kind, outcome, first } = failure
  const place = toHash({ tab: 'run', id: first.runId, ...(job === undefined ? {} : { job }) })
  return (
    <li class="failure">
      <div class="head">
        <span class="count">{count(failure.count)} ×</span>
        <b>{kind}</b>
        <span class="quiet">{WHOSE[outcome]}</span>
      </div>
      <div class="bar thin" aria-hidden="true">
        <span style={{ width: `${(failure.count / total) * 100}%`, background: '#d55e00' }} />
      </div>
      <blockquote>{first.message}</blockquote>
      <p class="quiet">
        First: <a href={place}>{first.slug}</a>
        {first.phase === null ? '' : `, while ${first.phase}`}, {moment(first.at)}
      </p>
    </li>
  )
}
