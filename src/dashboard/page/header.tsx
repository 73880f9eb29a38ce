import { useState } from 'preact/hooks'
import type { FeedJob } from '../../feed/messages.ts'
import type { Link, PageState } from './model/state.ts'
import { useAnswer } from './parts/use-answer.ts'
import { askJobs } from './requests.ts'
import { type Place, TABS, toHash } from './route.ts'
import { readTheme, setTheme, THEMES, type Theme } from './theme.ts'
import { count, moment } from './words.ts'

interface HeaderProps {
  readonly state: PageState
  readonly place: Place
  readonly onTheme: () => void
}

/** Which job, whether it goes on, whether the page hears from it, and where one can go. */
export function Header({ state, place, onTheme }: HeaderProps) {
  const { job, link, failures } = state
  const failed = failures.reduce((sum, each) => sum + each.count, 0)
  return (
    <header class="top">
      <div class="title">
        <h1>{job?.name ?? 'Troupe'}</h1>
        <span class="job">{job?.jobId}</span>
        <Sources job={job} />
        <span class="space" />
        <div class="controls">
          {job !== null && <Jobs place={place} shownNow={job.jobId} />}
          <ThemeChoice onTheme={onTheme} />
        </div>
      </div>
      <div role="status" aria-live="polite">
        <Lost link={link} hasJob={job !== null} />
      </div>
      <nav class="tabs" aria-label="Views">
        <div>
          <ul>
            {tabsOf(state, place).map(({ id, name }) => (
              <li key={id}>
                <a
                  href={toHash({ tab: id, ...(place.job === undefined ? {} : { job: place.job }) })}
                  aria-current={id === place.tab ? 'page' : undefined}
                >
                  {name}
                  {id === 'failures' && failed > 0 && <span class="tally">{count(failed)}</span>}
                </a>
              </li>
            ))}
          </ul>
        </div>
      </nav>
    </header>
  )
}

/** Workers are a tab where there are any to tell of. */
function tabsOf({ workers }: PageState, place: Place): readonly (typeof TABS)[number][] {
  return TABS.filter(({ id }) => id !== 'workers' || workers !== null || place.tab === id)
}

const SOURCES: Readonly<Record<FeedJob['source'], { readonly word: string; readonly says: string }>> = {
  live: { word: 'Live', says: 'told by the engine that runs the job' },
  followed: { word: 'Followed', says: 'another process runs the job; its journal is read' },
  over: { word: 'Over', says: 'the job has ended; this is what its journal holds' },
}

function Sources({ job }: { readonly job: FeedJob | null }) {
  if (job === null) return null
  const { word, says } = SOURCES[job.source]
  return (
    <span class={`badge ${job.source}`} title={says}>
      {word}
      <span class="unseen">: {says}</span>
    </span>
  )
}

function Lost({ link, hasJob }: { readonly link: Link; readonly hasJob: boolean }) {
  if (link.type === 'open') return null
  if (link.type === 'connecting') return hasJob ? null : <p class="quiet">Connecting to the engine …</p>
  if (!hasJob)
    return (
      <p class="quiet">
        The engine tells of no job yet, or of none that was asked for. Trying again (attempt {link.tries}).
      </p>
    )
  return (
    <p class="notice">
      <b>Connection lost.</b> What is shown is what was last heard. Trying again{' '}
      {link.retryInMs <= 1000 ? 'in a second' : `in ${Math.round(link.retryInMs / 1000)} seconds`} (attempt {link.tries}
      ). If the command has ended, <code>troupe dashboard</code> shows its journal.
    </p>
  )
}

function Jobs({ place, shownNow }: { readonly place: Place; readonly shownNow: string }) {
  const answer = useAnswer(shownNow, askJobs)
  if (answer.type !== 'here' || answer.reply.jobs.length < 2) return null
  const { jobs, shown } = answer.reply
  return (
    <label>
      <span>Job</span>
      <select
        value={place.job ?? shown}
        onChange={event => {
          const chosen = event.currentTarget.value
          location.hash = toHash({ tab: place.tab, ...(chosen === shown ? {} : { job: chosen }) })
        }}
      >
        {jobs.map(({ jobId, name, startedAt }) => (
          <option key={jobId} value={jobId}>
            {`${name}, ${moment(startedAt)}`}
          </option>
        ))}
      </select>
    </label>
  )
}

const THEME_WORDS: Readonly<Record<Theme, string>> = { auto: 'system colours', light: 'light', dark: 'dark' }

function ThemeChoice({ onTheme }: { readonly onTheme: () => void }) {
  const [theme, choose] = useState(readTheme)
  return (
    <label>
      <span>Colours</span>
      <select
        value={theme}
        onChange={event => {
          const chosen = THEMES.find(each => each === event.currentTarget.value) ?? 'auto'
          setTheme(chosen)
          choose(chosen)
          onTheme()
        }}
      >
        {THEMES.map(each => (
          <option key={each} value={each}>
            {THEME_WORDS[each]}
          </option>
        ))}
      </select>
    </label>
  )
}
