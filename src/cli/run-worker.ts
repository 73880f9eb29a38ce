import { resolve } from 'node:path'
import { startClusterWorker, type WorkerNews } from '../assembly/cluster-worker.ts'
import type { RuntimeRequest } from '../cluster/job-board.ts'
import type { Cli } from './cli.ts'
import { parseRuntimeData } from './cluster-options.ts'
import type { WorkerArguments } from './commands/worker.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { makeRuntime } from './runtime-options.ts'
import { showWarnings } from './warnings.ts'

/** `troupe worker`. Works until a signal; throws where the server cannot be used. */
export async function runWorker(options: WorkerArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  const hideWarnings = showWarnings(console)
  const worker = await startClusterWorker({
    ...options,
    clock,
    makeRuntime: request => makeRequestedRuntime(request, cli),
    onNews: news => console.talk(toText(news)),
  })
  const interrupt = armInterrupt({
    onFirst() {
      console.need('taking nothing new; what is under way ends or is handed back. Again to end at once')
      void worker.drain(options.drain * 1_000)
    },
    onSecond: () => process.exit(EXIT.interrupted),
  })
  console.talk(`${worker.node} works for whoever asks at ${options.nats}`)
  try {
    await worker.ended
  } finally {
    interrupt.disarm()
    hideWarnings()
  }
}

/** As if the command line had said so here. */
function makeRequestedRuntime({ arguments: data, environment, rowsNameImages }: RuntimeRequest, { console }: Cli) {
  const source = environment === undefined ? undefined : resolve(environment)
  return makeRuntime(parseRuntimeData(data), source, console, rowsNameImages)
}

function toText(news: WorkerNews): string {
  switch (news.type) {
    case 'waiting':
      return 'no job has been run at this server yet; waiting for the first'
    case 'joined':
      return `working for ${news.jobId}`
    case 'left':
      return `${news.jobId} is over here, after ${news.rollouts} rollouts`
    case 'policy':
      return `${news.jobId} serves the policy ${news.version} of step ${news.step + 1}`
    case 'refused':
      return `warning: ${news.error.message}`
  }
}
