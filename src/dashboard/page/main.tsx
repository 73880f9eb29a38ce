import { render } from 'preact'
import { App } from './app.tsx'
import { follow } from './connection.ts'
import { emptyState, hear } from './model/state.ts'
import { readPlace } from './route.ts'
import { applyTheme, onSystemTheme, readTheme } from './theme.ts'
import { timed } from './timing.ts'

/*
 * What is known is kept outside of the document and changed by each message at once; the document is made anew at most once a frame, however many
 * messages come, and not at all while nobody looks.
 */
const root = document.getElementById('page')
if (root === null) throw new Error('the document has no place for the page')
const place = root

let state = emptyState()
let connection: { close(): void } | undefined
let followed: string | undefined
let isWaiting = false

function showSoon(): void {
  if (isWaiting) return
  isWaiting = true
  requestAnimationFrame(show)
}

function show(): void {
  isWaiting = false
  timed('show', () => render(<App state={state} place={readPlace(location.hash)} onTheme={showSoon} />, place))
}

function followJob(job: string | undefined): void {
  connection?.close()
  state = emptyState()
  followed = job
  connection = follow(job, {
    message(message) {
      timed('hear', () => hear(state, message, performance.now()))
      showSoon()
    },
    link(link) {
      state.link = link
      showSoon()
    },
  })
}

applyTheme(readTheme())
onSystemTheme(showSoon)
addEventListener('hashchange', () => {
  const { job } = readPlace(location.hash)
  if (job !== followed) followJob(job)
  showSoon()
})
followJob(readPlace(location.hash).job)
showSoon()
