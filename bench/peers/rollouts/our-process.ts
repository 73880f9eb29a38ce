/** Our engine in a process of its own: threads, environment host, journal, stream, and an agent that does nothing. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Job } from '../../../src/job/job.ts'
import { serveCalls } from '../../../src/ladder/process/child.ts'
import { LocalRuntime } from '../../../src/runtimes/local.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { makeBenchDirectory } from '../../directory.ts'
import { takeFigures } from '../../engine/measure.ts'
import type { OurCalls, OurSettings } from './calls.ts'

const GROUP = 8
const { connections }: OurSettings = JSON.parse(process.argv[2] ?? '{}')
const environment = fileURLToPath(new URL('../../engine/noop-env.js', import.meta.url))
const agent = createAgent(fileURLToPath(new URL('./idle-agent.js', import.meta.url)), {})

const opening = open()
let rounds = 0

async function open() {
  const { directory, remove } = await makeBenchDirectory()
  const runtime = new LocalRuntime(environment, connections === 'each' ? { transport: 'tcp' } : {})
  return { job: await Job.start('peers', { journal: join(directory, 'journal') }), runtime, remove }
}

const calls: OurCalls = {
  async rollouts({ rollouts, width }) {
    const { job, runtime } = await opening
    rounds += 1
    const rows = Array.from({ length: rollouts / GROUP }, (_, index) => ({
      env: 'noop',
      id: 'noop',
      args: {},
      slug: `${rounds}-${index}`,
    }))
    return takeFigures(async () => {
      const options = { runtime, group: GROUP, maxConcurrent: width, connections } as const
      for await (const group of job.stream(new Taskset(`round-${rounds}`, rows), agent, options))
        for (const run of group.runs)
          if (run.reward !== 1) throw new Error(`a no-op run failed: ${JSON.stringify(run.error)}`)
      return rollouts
    })
  },
}

serveCalls(calls, async () => {
  const { job, remove } = await opening
  await job[Symbol.asyncDispose]()
  remove()
})
