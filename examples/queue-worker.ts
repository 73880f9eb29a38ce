/**
 * One worker of a queue of jobs: `npm run build && node dist/examples/queue-worker.js`. Items are files of a directory, and to take one is to rename it, so
 * that several workers can share them. A worker that was killed is followed by one that goes on: same item, same journal.
 */
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent, Job, LocalRuntime, Taskset } from 'troupe'
import { z } from 'troupe/environment'

const itemSchema = z.object({ tasks: z.array(z.string()), group: z.int().min(1) })
const queue = await mkdtemp(join(tmpdir(), 'queue-'))
await writeFile(join(queue, 'a.wanted'), JSON.stringify({ tasks: ['0-3'], group: 4 }))
await writeFile(join(queue, 'b.wanted'), JSON.stringify({ tasks: ['4', '5'], group: 2 }))

const taskset = await Taskset.load('environments/arith/tasks.ts')
const agent = createAgent('environments/arith/adder.ts')
// The library installs no handler: how a program ends is the program's own affair.
const leaving = new AbortController()
process.once('SIGTERM', () => leaving.abort())

/** What this worker had taken before, then what nobody has taken. */
async function takeItem(): Promise<string | undefined> {
  const files = await readdir(queue)
  const taken = files.find(file => file.endsWith('.taken'))
  if (taken !== undefined) return taken.replace('.taken', '')
  for (const file of files.filter(file => file.endsWith('.wanted'))) {
    const item = file.replace('.wanted', '')
    const isMine = await rename(join(queue, file), join(queue, `${item}.taken`)).then(
      () => true,
      () => false, // another worker was quicker
    )
    if (isMine) return item
  }
  return undefined
}

async function work(item: string): Promise<void> {
  const wanted = itemSchema.parse(JSON.parse(await readFile(join(queue, `${item}.taken`), 'utf8')))
  await using job = await Job.start(item, {
    runtime: new LocalRuntime('environments/arith/env.ts'),
    journal: join(queue, `${item}.journal`),
    settings: wanted,
    resume: true,
    threads: 1,
    signal: leaving.signal,
  })
  await taskset.select(wanted.tasks).run(agent, { job, group: wanted.group })
  const { graded, plannedRuns, rewardSum } = job.snapshot()
  await writeFile(join(queue, `${item}.json`), JSON.stringify({ graded, rewardSum }))
  await rename(join(queue, `${item}.taken`), join(queue, `${item}.done`))
  console.log(`${item}: ${graded} of ${plannedRuns} graded, mean reward ${rewardSum / graded}`)
}

for (let item = await takeItem(); item !== undefined && !leaving.signal.aborted; item = await takeItem())
  await work(item)
console.log(`done: ${(await readdir(queue)).filter(file => file.endsWith('.done')).join(' ')}`)
await rm(queue, { recursive: true })
