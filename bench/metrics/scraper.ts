import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Somebody who scrapes every second, in a process of their own, as Prometheus is. */
export interface Scraper {
  begin(url: string): Promise<void>
  /** Scrapes that were answered so far. */
  count(): Promise<number>
  /** No further scrape; the one under way is waited for. */
  end(): Promise<void>
  close(): Promise<void>
}

/** What the other process is told; it answers each with its count. */
export type ScraperMessage =
  | { readonly type: 'begin'; readonly url: string }
  | { readonly type: 'count' }
  | { readonly type: 'end' }

export function startScraper(): Scraper {
  const child = fork(fileURLToPath(new URL('./scraper-main.js', import.meta.url)))
  const gone = once(child, 'exit')
  async function ask(message: ScraperMessage): Promise<number> {
    const answered = once(child, 'message')
    child.send(message)
    const ended = gone.then(() => {
      throw new Error('the scraper has ended')
    })
    const [count] = await Promise.race([answered, ended])
    return Number(count)
  }
  return {
    begin: async url => void (await ask({ type: 'begin', url })),
    count: () => ask({ type: 'count' }),
    end: async () => void (await ask({ type: 'end' })),
    async close() {
      child.disconnect()
      await gone
    },
  }
}
