import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { NatsConnection } from '@nats-io/transport-node'
import { openPolicyBoard, type PolicyBoardPorts, type PolicyVersion } from '../cluster/policy-board.ts'
import type { JobId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import { CHANNELS, type ChannelMessages } from '../telemetry/channels.ts'
import { within } from '../threads/worker-pool.ts'
import { parseStepRecords, STEPS_PREFIX } from '../training/loop/marks.ts'
import type { StepRecord } from '../training/records.ts'

/** For what is still to be written at the job's end. */
const FLUSH_MS = 10_000

/** Writes each version that the job's training serves. Rejects with `policy-ahead` where the journal is older than what was served. */
export async function startPolicyBoard(
  connection: NatsConnection,
  journal: Journal | undefined,
  ports: Omit<PolicyBoardPorts, 'known'> & { readonly jobId: JobId },
): Promise<{ close(): Promise<void> }> {
  const board = await openPolicyBoard(connection, { ...ports, known: await readNewest(journal, ports.jobId) })
  const hear = (message: unknown) => {
    const { jobId, event } = message as ChannelMessages['trainingEvent']
    if (jobId !== ports.jobId || event.type !== 'step-ended') return
    const version = toVersion(event.record)
    if (version !== undefined) board.put(version)
  }
  subscribe(CHANNELS.trainingEvent, hear)
  return {
    async close() {
      unsubscribe(CHANNELS.trainingEvent, hear)
      await within(ports.clock, FLUSH_MS, board.flushed())
    },
  }
}

/** A step that was skipped has left the one before. */
function toVersion({ step, end }: StepRecord): PolicyVersion | undefined {
  return end.type === 'trained' ? { step, version: end.checkpointId } : undefined
}

async function readNewest(journal: Journal | undefined, jobId: JobId): Promise<PolicyVersion | undefined> {
  const records = new Map<string, unknown>()
  if (journal !== undefined)
    for await (const { key, value } of journal.records(jobId, STEPS_PREFIX)) records.set(key, value)
  const last = parseStepRecords(records).findLast(({ end }) => end.type === 'trained')
  return last && toVersion(last)
}
