/**
 * Whole groups on their way to a training script in another process, over HTTP. A group is leased, and gone only when it is acknowledged: a script
 * that dies leaves it to the next one. What waits is bounded by groups and by bytes; whoever offers more waits for room.
 */
import { type FastifyInstance, fastify } from 'fastify'
import { type Clock, type Group, systemClock } from 'troupe'
import { z } from 'troupe/environment'

/** What the script gets: rewards, and the tokens of every turn. */
export interface QueuedGroup {
  readonly group_id: string
  readonly task: string
  readonly runs: readonly {
    readonly run_id: string
    readonly reward: number
    readonly samples: readonly { readonly tokens: readonly number[]; readonly logprobs: readonly number[] }[]
  }[]
}

/** What the script made of the groups so far: it is the script's own, but for the version. */
export interface Policy {
  readonly version: number
  readonly logits: readonly number[]
}

export interface QueueOptions {
  /** Groups that wait or are leased, at most. */
  readonly maxGroups: number
  /** The same in bytes. A group over it alone waits until there is no other. */
  readonly maxBytes: number
  /** A lease that is older is void, and its group is handed out again. */
  readonly leaseMs: number
  /** How long a script that asks is kept waiting for a group before it is told to ask again. */
  readonly waitMs?: number
  readonly policy: Policy
  /** Ends the waiting of those who offer groups. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

interface Entry {
  readonly group: QueuedGroup
  readonly json: string
}

export interface GroupQueue {
  /** Resolves as soon as there is room for it; rejects with the signal's reason. */
  put(group: Group): Promise<void>
  /** No more will come. Resolves when everything is acknowledged, and the script has been told. */
  finish(): Promise<void>
  /** The script is gone: what it had leased is handed out again, in the old order, before all others. */
  release(): void
  readonly policy: Policy
  readonly counts: {
    readonly waiting: number
    readonly leased: number
    readonly acked: number
    readonly handedOut: number
  }
  readonly app: FastifyInstance
}

const ackSchema = z.object({
  lease: z.string(),
  policy: z.object({ version: z.int(), logits: z.array(z.number()) }),
})

/** `listen` and `close` its `app`. */
export function makeGroupQueue(options: QueueOptions): GroupQueue {
  const { maxGroups, maxBytes, leaseMs, waitMs = 10_000, signal, clock = systemClock } = options
  const waiting: Entry[] = []
  const leases = new Map<string, { readonly entry: Entry; readonly cancel: () => void }>()
  const wakers = new Set<() => void>()
  let { policy } = options
  let [bytes, acked, handedOut] = [0, 0, 0]
  let [isFinished, isTold, isClosed] = [false, false, false]

  function wake(): void {
    for (const each of [...wakers]) each()
  }
  signal?.addEventListener('abort', wake, { once: true })

  /** Resolves with the first change, or after `ms`. */
  function change(ms?: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = ms === undefined ? () => {} : clock.after(ms, done)
      wakers.add(done)
      function done(): void {
        wakers.delete(done)
        cancel()
        resolve()
      }
    })
  }

  function giveBack(lease: string): void {
    const held = leases.get(lease)
    if (held === undefined) return
    held.cancel()
    leases.delete(lease)
    waiting.unshift(held.entry)
    wake()
  }

  function lease(entry: Entry): string {
    handedOut += 1
    const id = `lease-${handedOut}`
    leases.set(id, { entry, cancel: clock.after(leaseMs, () => giveBack(id)) })
    return id
  }

  const app = fastify({ forceCloseConnections: true, bodyLimit: 1024 * 1024 })
  app.addHook('preClose', async () => {
    isClosed = true
    for (const { cancel } of leases.values()) cancel()
    wake()
  })
  app.get('/policy', async () => policy)
  app.post('/lease', async (_request, reply) => {
    const end = clock.now() + waitMs
    let id = ''
    reply.raw.once('close', () => {
      // Who asked is gone: nothing may be handed to them, and what was on its way comes back.
      if (!reply.raw.writableFinished) giveBack(id)
      wake()
    })
    while (waiting.length === 0 && !(isFinished && leases.size === 0)) {
      const left = end - clock.now()
      if (left <= 0 || isClosed || reply.raw.destroyed) return reply.code(204).send()
      await change(left)
    }
    if (reply.raw.destroyed) return reply
    const entry = waiting.shift()
    if (entry !== undefined) {
      id = lease(entry)
      return { lease: id, group: entry.group }
    }
    isTold = true
    wake()
    return { end: true }
  })
  // Acknowledging and the policy that came of it are one: neither can be had without the other.
  app.post('/ack', async (request, reply) => {
    const found = ackSchema.parse(request.body)
    const held = leases.get(found.lease)
    if (held === undefined) return reply.code(409).send({ error: 'this lease is void: take the policy as it is now' })
    held.cancel()
    leases.delete(found.lease)
    bytes -= held.entry.json.length
    acked += 1
    policy = found.policy
    wake()
    return {}
  })

  return {
    async put(group) {
      const queued = toQueued(group)
      const entry = { group: queued, json: JSON.stringify(queued) }
      const hasRoom = () => {
        const count = waiting.length + leases.size
        return count < maxGroups && (count === 0 || bytes + entry.json.length <= maxBytes)
      }
      while (!hasRoom()) {
        signal?.throwIfAborted()
        await change()
      }
      bytes += entry.json.length
      waiting.push(entry)
      wake()
    },
    async finish() {
      isFinished = true
      wake()
      while (!isTold) {
        signal?.throwIfAborted()
        await change()
      }
    },
    release() {
      for (const id of [...leases.keys()].reverse()) giveBack(id)
    },
    get policy() {
      return policy
    },
    get counts() {
      return { waiting: waiting.length, leased: leases.size, acked, handedOut }
    },
    app,
  }
}

/** Graded members alone: an attempt that nobody graded says nothing. */
function toQueued({ groupId, task, runs }: Group): QueuedGroup {
  return {
    group_id: groupId,
    task: task.slug,
    runs: runs.flatMap(({ runId, reward, trajectory }) => {
      if (reward === null) return []
      const samples = trajectory.turns.flatMap(({ tokens }) =>
        tokens === undefined ? [] : [{ tokens: [...tokens.output], logprobs: [...tokens.logprobs] }],
      )
      return [{ run_id: runId, reward, samples }]
    }),
  }
}
