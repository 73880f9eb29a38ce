import type { IdSource } from '../ids.ts'
import type { JobRecords } from '../job/records.ts'
import { freshUuid } from './ids.ts'

/** What a job's records hold of its report, so that a later process goes on under the same ids and sends no run twice. */
export interface ReportMemory {
  /** The job at the platform. */
  readonly platformJobId: string
  /** The platform has it. */
  readonly isEntered: boolean
  /** Runs that an earlier process has reported. */
  readonly reported: ReadonlySet<string>
  noteEntered(): void
  /** Some runs at a time are written together; `failed` is told when one writing fails. */
  noteReported(runIds: readonly string[]): void
  /** All that was noted is written. */
  settled(): Promise<void>
}

const JOB = 'platform/job'
const REPORTED = 'platform/reported/'

export async function openReportMemory(
  records: JobRecords,
  ids: IdSource,
  failed: (error: unknown) => void,
): Promise<ReportMemory> {
  const kept = readJob((await records.list(JOB)).get(JOB))
  const platformJobId = kept?.id ?? freshUuid(ids)
  const earlier = await records.list(REPORTED)
  const reported = new Set([...earlier.values()].flatMap(toList))
  let written = earlier.size
  let waiting: string[] = []
  let writing: Promise<void> = Promise.resolve()
  let isScheduled = false

  function write(work: () => Promise<void>): void {
    writing = writing.then(work).catch(failed)
  }

  if (kept === undefined) write(() => records.put(JOB, { id: platformJobId, entered: false }))
  return {
    platformJobId,
    isEntered: kept?.entered ?? false,
    reported,
    noteEntered: () => write(() => records.put(JOB, { id: platformJobId, entered: true })),
    noteReported(runIds) {
      waiting.push(...runIds)
      if (isScheduled || waiting.length === 0) return
      isScheduled = true
      write(async () => {
        const taken = waiting
        waiting = []
        isScheduled = false
        written += 1
        await records.put(`${REPORTED}${String(written).padStart(8, '0')}`, taken)
      })
    },
    settled: () => writing,
  }
}

function readJob(value: unknown): { readonly id: string; readonly entered: boolean } | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string') return undefined
  return { id: value.id, entered: 'entered' in value && value.entered === true }
}

function toList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}
