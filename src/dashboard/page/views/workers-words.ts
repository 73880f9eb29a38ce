import type { FeedWorkers } from '../../../feed/messages.ts'
import type { KnownWorker } from '../../../telemetry/channels.ts'
import type { WorkersShown } from '../model/workers.ts'
import { clockTime, count, plural } from '../words.ts'

/** `200 are there, 1 of them silent, 2 draining`. */
export function tellHere({ count: all }: FeedWorkers, { silent, draining }: WorkersShown): string {
  const apart = [
    [silent, 'silent'],
    [draining, 'draining'],
  ] as const
  const told = apart.flatMap(([value, word]) => (value === 0 ? [] : [`${count(value)} ${word}`]))
  return [`${count(all)} ${all === 1 ? 'is' : 'are'} there`, ...told].join(', ')
}

/** What a worker that is gone had, and who has it now. */
export function tellFate({ state, groups, rollouts, othersAt }: KnownWorker, at: number, hasOthers: boolean): string {
  if (state === 'left') return 'gave back what it had'
  if (groups === 0) return 'nothing was under way'
  const had = `${plural(groups, 'group')} with ${plural(rollouts, 'rollout')}`
  if (othersAt !== undefined && at < othersAt) return `${had}, for others from ${clockTime(othersAt)} on`
  return hasOthers ? `${had}, given to others` : `${had}, waiting for a worker`
}
