import { systemClock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'
import { badTracesOption } from '../errors.ts'
import { listenToJob } from '../listen.ts'
import type { Traces, TracesOptions } from './create-traces.ts'
import { makeNameHider } from './hide-names.ts'
import { openSpans } from './open-spans.ts'
import { drawRun } from './run-spans.ts'
import { traceJob } from './tracers.ts'
import { toTracesUrl } from './traces-url.ts'
import { makeTrainingSpans } from './training-spans.ts'

/** For a batch with its tries: less than the end waits, so that none is left then. */
const SEND_MS = 4_000
const CLOSE_MS = 5_000

/** See `createTraces`, which loads this. */
export function makeJobTraces({ jobId }: Pick<Job, 'jobId'>, options: TracesOptions): Traces {
  const { share = 1, link, resource = {}, clock = systemClock, onFailed = () => {} } = options
  if (!(share >= 0 && share <= 1)) throw badTracesOption(`share is ${share}, not from 0 to 1`)
  const spans = openSpans({
    to: toPlace(options),
    serviceName: 'troupe',
    resource: { ...resource, 'troupe.job.id': jobId },
    clock,
    sendMs: SEND_MS,
    closeMs: CLOSE_MS,
    onFailed,
  })
  const openedAt = clock.wallTime()
  const pen = { spans, hide: makeNameHider(clock) }
  const training = makeTrainingSpans(jobId, spans, clock, link)
  const stopTracing = traceJob(jobId, {
    share,
    runEnded(header, trace) {
      // Told again when a job goes on: the process that ran it has drawn it.
      if (trace === undefined && header.endedAt < openedAt) return
      drawRun(pen, header, trace, { share, links: [training.contextOf(header), link].filter(isThere) })
    },
  })
  const stopListening = listenToJob(jobId, {
    engine() {},
    run() {},
    group() {},
    training: training.receive,
    problem() {},
  })
  return {
    get dropped() {
      return spans.dropped
    },
    close() {
      stopTracing()
      stopListening()
      training.end()
      return spans.close()
    },
  }
}

function toPlace({ url, exporter }: TracesOptions) {
  if (url !== undefined && exporter === undefined) return toTracesUrl(url)
  if (exporter !== undefined && url === undefined) return exporter
  throw badTracesOption('name one place to send spans to: a url or an exporter')
}

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}
