import { systemClock } from '../clock.ts'
import { openFeed } from '../feed/open-feed.ts'
import type { Job } from '../job/job.ts'
import { makeJobSource } from './job-source.ts'
import { makeLadders } from './ladders.ts'
import type { Dashboard, DashboardOptions } from './serve-dashboard.ts'
import { startDashboardServer } from './server.ts'
import { chooseToken } from './token.ts'

/** The feed of a job, and a server for it alone. */
export async function openJobDashboard(job: Job, options: DashboardOptions): Promise<Dashboard> {
  const { host = '127.0.0.1', port = 0, prices, receipts = [], clock = systemClock } = options
  const token = chooseToken(host, options.token)
  const server = await startDashboardServer({
    host,
    port,
    ...(token === undefined ? {} : { token }),
    ladders: makeLadders(receipts),
    clock,
  })
  const feed = openFeed(job, { clock, ...(prices === undefined ? {} : { prices }) })
  server.show(makeJobSource(job, feed, async () => undefined))
  return {
    url: server.url,
    over: feed.over,
    async close() {
      await server.close()
      await feed.close()
    },
  }
}
