import type { JobsReply, LaddersReply, Refused, RunReply } from '../routes.ts'

/** An answer that may not have come yet, or never will. */
export type Answer<Reply> =
  | { readonly type: 'waiting' }
  | { readonly type: 'here'; readonly reply: Reply }
  | { readonly type: 'refused'; readonly message: string }

export const askRun = (id: string): Promise<Answer<RunReply>> => ask(`/runs/${encodeURIComponent(id)}`)
export const askJobs = (): Promise<Answer<JobsReply>> => ask('/jobs')
export const askLadders = (): Promise<Answer<LaddersReply>> => ask('/ladders')

const DEADLINE_MS = 20_000

/** The server is of the same version as the page, so that what it says is taken as it is. */
async function ask<Reply>(path: string): Promise<Answer<Reply>> {
  try {
    const response = await fetch(path, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const body: unknown = await response.json()
    if (response.ok) return { type: 'here', reply: body as Reply }
    return { type: 'refused', message: (body as Refused).error?.message ?? `The server answered ${response.status}.` }
  } catch (error) {
    return { type: 'refused', message: `The server did not answer: ${error instanceof Error ? error.message : error}` }
  }
}
