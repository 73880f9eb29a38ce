import { useEffect, useRef } from 'preact/hooks'
import { Header } from './header.tsx'
import type { PageState } from './model/state.ts'
import type { Place } from './route.ts'
import { TABS } from './route.ts'
import { isDark } from './theme.ts'
import { Failures } from './views/failures.tsx'
import { Groups } from './views/groups.tsx'
import { Ladder } from './views/ladder.tsx'
import { Lanes } from './views/lanes.tsx'
import { Now } from './views/now.tsx'
import { Run } from './views/run.tsx'
import { Training } from './views/training.tsx'
import { Workers } from './views/workers.tsx'

export interface ViewProps {
  readonly state: PageState
  readonly place: Place
  readonly isDark: boolean
}

const VIEWS = {
  now: Now,
  lanes: Lanes,
  groups: Groups,
  training: Training,
  failures: Failures,
  workers: Workers,
  run: Run,
  ladder: Ladder,
} as const

interface AppProps {
  readonly state: PageState
  readonly place: Place
  readonly onTheme: () => void
}

/** The frame around the view that the address names. */
export function App({ state, place, onTheme }: AppProps) {
  const main = useRef<HTMLElement>(null)
  const View = VIEWS[place.tab]
  const name = TABS.find(({ id }) => id === place.tab)?.name ?? ''
  const title = `${name} – ${state.job?.name ?? 'Troupe'}`
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a link to the view's beginning would change the address, which names the view. */}
      <a
        class="skip"
        href="#main"
        onClick={event => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the view
      </a>
      <Header state={state} place={place} onTheme={onTheme} />
      <main id="main" ref={main} tabIndex={-1} aria-label={name}>
        <View state={state} place={place} isDark={isDark()} />
      </main>
    </>
  )
}
