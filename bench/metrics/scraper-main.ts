/** The other end of scraper.ts: started by it, ends with its channel. A scrape that fails ends it with an error. */
import type { ScraperMessage } from './scraper.ts'

const EVERY_MS = 1_000
let count = 0
let timer: NodeJS.Timeout | undefined
let scraping: Promise<void> = Promise.resolve()

async function scrape(url: string): Promise<void> {
  const answer = await fetch(url)
  const text = await answer.text()
  if (answer.status !== 200 || !text.includes('troupe_runs_total')) throw new Error(`${answer.status}: ${text}`)
  count += 1
}

process.on('message', async data => {
  const message = parse(data)
  if (message.type === 'begin')
    timer = setInterval(() => {
      scraping = scrape(message.url)
    }, EVERY_MS)
  if (message.type === 'end') {
    clearInterval(timer)
    await scraping
  }
  process.send?.(count)
})

/** The channel is private to the two ends, which share this type. */
function parse(data: unknown): ScraperMessage {
  return data as ScraperMessage
}
