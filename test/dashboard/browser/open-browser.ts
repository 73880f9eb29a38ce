import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

/** Debian's own; nothing is downloaded. */
const CHROMIUM = process.env.TROUPE_CHROMIUM ?? '/usr/bin/chromium'

/** Then the id of the test's process, which is who removes it. */
const PROFILES = 'troupe-browser-'

export const DESKTOP = { width: 1280, height: 900 } as const
export const NARROW = { width: 360, height: 740 } as const

/** One browser of a test file, with a profile that goes with it. */
export interface TestBrowser {
  /** A page in the browser's one profile. What it says on its console as an error, what it throws, and what it asks of another origin is kept. */
  open(url: string, viewport?: { readonly width: number; readonly height: number }): Promise<WatchedPage>
  readonly context: BrowserContext
  readonly profile: string
  close(): Promise<void>
}

export interface WatchedPage {
  readonly page: Page
  /** Errors of the console, exceptions and requests beyond the page's own origin. */
  readonly complaints: string[]
}

export async function openBrowser(): Promise<TestBrowser> {
  if (!existsSync(CHROMIUM))
    throw new Error(
      `no Chromium at ${CHROMIUM}: install Debian's package \`chromium\`, or name another one with TROUPE_CHROMIUM`,
    )
  await removeOrphans()
  const profile = await mkdtemp(join(tmpdir(), `${PROFILES}${process.pid}-`))
  const context = await chromium
    .launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      args: ['--headless=new', '--no-sandbox', '--disable-gpu'],
      viewport: null,
    })
    .catch(async error => {
      await rm(profile, { recursive: true, force: true })
      throw error
    })
  return {
    context,
    profile,
    async open(url, viewport = DESKTOP) {
      const page = await context.newPage()
      await page.setViewportSize(viewport)
      const complaints: string[] = []
      const origin = new URL(url).origin
      page.on('console', message => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
      })
      page.on('pageerror', error => complaints.push(error.message))
      page.on('request', request => {
        if (!request.url().startsWith('data:') && new URL(request.url()).origin !== origin)
          complaints.push(`asked ${request.url()}`)
      })
      await page.goto(url)
      return { page, complaints }
    },
    async close() {
      await context.close()
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Profiles of test processes that were killed before they could remove them. */
async function removeOrphans(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = new RegExp(`^${PROFILES}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** Ids of the processes that this one has started, and those have. What has ended and waits for its parent to be told of it is none. */
export function childProcesses(): ReadonlySet<number> {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter(each => /^\d+$/.test(each))) {
    const found = readProcess(Number(name))
    if (found !== undefined) parents.set(Number(name), found.parent)
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && isOurs(parents.get(pid)))
  return new Set([...parents].flatMap(([pid, parent]) => (isOurs(parent) ? [pid] : [])))
}

export function isRunning(pid: number): boolean {
  return readProcess(pid) !== undefined
}

function readProcess(pid: number): { readonly parent: number } | undefined {
  try {
    const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return state === 'Z' || state === 'X' ? undefined : { parent: Number(parent) }
  } catch {
    // It has ended.
    return undefined
  }
}
