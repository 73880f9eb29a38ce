import { useState } from 'preact/hooks'
import type { RunReply } from '../../routes.ts'
import type { ViewProps } from '../app.tsx'
import { toStretches } from '../model/lanes.ts'
import { OUTCOME_SIGNS, PHASE_LOOKS } from '../palette.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { askRun } from '../requests.ts'
import { toHash } from '../route.ts'
import { clockTime, duration, moment, reward, toText } from '../words.ts'
import { LongText, Turn } from './turn.tsx'

/** One run read as a conversation, or the runs that one may read. */
export function Run({ state, place }: ViewProps) {
  return (
    <>
      <Search key={place.id} place={place} />
      {place.id === undefined ? (
        <Newest state={state} place={place} />
      ) : (
        <One key={place.id} id={place.id} state={state} />
      )}
    </>
  )
}

function Search({ place }: Pick<ViewProps, 'place'>) {
  const [id, setId] = useState(place.id ?? '')
  return (
    <search>
      <form
        class="search"
        onSubmit={event => {
          event.preventDefault()
          if (id.trim() !== '') location.hash = toHash({ ...place, tab: 'run', id: id.trim() })
        }}
      >
        <label>
          Run, or the beginning of its id
          <input
            value={id}
            onInput={event => setId(event.currentTarget.value)}
            placeholder="run-0123456789abcdef"
            spellcheck={false}
          />
        </label>
        <button type="submit">Open</button>
        {place.id !== undefined && (
          <a href={toHash({ tab: 'run', ...(place.job === undefined ? {} : { job: place.job }) })}>Newest runs</a>
        )}
      </form>
    </search>
  )
}

function Newest({ state, place }: Pick<ViewProps, 'state' | 'place'>) {
  return (
    <Panel title="Newest runs">
      {state.runs.length === 0 ? (
        <Empty
          what="No run has ended yet."
          how="A run can be read when it has ended and is in the journal; `troupe runs` lists all of them."
        />
      ) : (
        <DataTable
          caption="Runs, the last one to end first"
          columns={[
            { name: 'run' },
            { name: 'task' },
            { name: 'member', kind: 'number' },
            { name: 'reward', kind: 'number' },
            { name: 'outcome' },
            { name: 'stopped' },
            { name: 'took', kind: 'number' },
            { name: 'ended' },
          ]}
          rows={state.runs.map(run => ({
            key: run.runId,
            cells: [
              <a key="id" class="mono nowrap" href={toHash({ ...place, tab: 'run', id: run.runId })}>
                {run.runId}
              </a>,
              run.slug,
              run.member,
              run.reward === null ? '–' : reward(run.reward),
              <span key="outcome" class={run.outcome === 'graded' ? '' : 'alarm'}>
                {OUTCOME_SIGNS[run.outcome]} {run.outcome}
              </span>,
              run.stopReason,
              duration(run.endedAt - run.startedAt),
              clockTime(run.endedAt),
            ],
          }))}
        />
      )}
    </Panel>
  )
}

function One({ id, state }: { readonly id: string; readonly state: ViewProps['state'] }) {
  // Asked again when the run has ended in the meantime.
  const isEnded = state.runs.some(({ runId }) => runId === id)
  const answer = useAnswer(`${id} ${isEnded}`, () => askRun(id))
  if (answer.type === 'waiting') return <p class="quiet">Reading {id} …</p>
  if (answer.type === 'here') return <Conversation reply={answer.reply} />
  const live = state.live.find(({ runId }) => runId === id)
  return (
    <Panel title={id}>
      {live === undefined ? (
        <Empty what="This run cannot be read." how={answer.message} />
      ) : (
        <Empty
          what="This run is under way."
          how={`${live.slug}, member ${live.member}: ${live.phase} now. It can be read as soon as it has ended; this page then shows it by itself.`}
        />
      )}
    </Panel>
  )
}

function Conversation({ reply }: { readonly reply: RunReply }) {
  const { run, prompt, turns, answer, grade, actorGrade, tokenizer } = reply
  return (
    <>
      <Verdict reply={reply} />
      <ol class="turns">
        <li class="turn prompt">
          <header>
            <h3>Prompt</h3>
            <span>
              {run.environment}, {run.task.id} {JSON.stringify(run.task.args)}
            </span>
          </header>
          <LongText text={toText(prompt)} />
        </li>
        {turns.map((turn, index) => (
          <Turn key={index} turn={turn} number={index + 1} tokenizer={tokenizer} />
        ))}
        <li class="turn">
          <header>
            <h3>Answer</h3>
          </header>
          <LongText text={toText(answer)} />
        </li>
        {actorGrade !== undefined && (
          <li class="turn grade">
            <header>
              <h3>The task's own grade</h3>
            </header>
            <LongText text={toText(actorGrade)} />
          </li>
        )}
        <li class="turn grade">
          <header>
            <h3>{actorGrade === undefined ? 'Grade' : "Grade of record, the verifier's"}</h3>
          </header>
          <LongText text={grade === null ? 'none: this run was not graded' : toText(grade)} />
        </li>
      </ol>
    </>
  )
}

function Verdict({ reply: { run } }: { readonly reply: RunReply }) {
  const stretches = toStretches(run)
  const inAll = run.endedAt - run.startedAt
  return (
    <Panel title={run.slug} note={`${run.runId}, group ${run.groupId}`}>
      <dl class="facts">
        {(
          [
            ['Reward', run.reward === null ? 'not graded' : reward(run.reward)],
            ['Outcome', run.outcome],
            ['Stopped', `${run.stopReason}${run.failedPhase === undefined ? '' : ` while ${run.failedPhase}`}`],
            ['Step', run.step + 1],
            ['Member', run.member],
            ['Attempt', run.attempt],
            ['Agent', run.agent],
            ['Seed', run.seed],
            ['Sandbox', run.lease ?? 'none'],
            ['Began', moment(run.startedAt)],
            ['Took', duration(inAll)],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {run.error !== undefined && <p class="notice">{run.error}</p>}
      <div class="bar" aria-hidden="true">
        {stretches.map(({ phase, from, to }) =>
          phase === null ? null : (
            <span key={phase} style={{ flex: `${(to ?? from) - from} 1 0`, background: PHASE_LOOKS[phase].colour }} />
          ),
        )}
      </div>
      <ul class="legend" aria-label="Time by phase">
        {stretches.map(({ phase, from, to }) =>
          phase === null ? null : (
            <li key={phase}>
              <span class="swatch" style={{ background: PHASE_LOOKS[phase].colour, height: '10px' }} />
              {phase} {duration((to ?? from) - from)}
            </li>
          ),
        )}
      </ul>
    </Panel>
  )
}
