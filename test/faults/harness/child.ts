/**
 * Runs a job in a process of its own, for faults that would hit the tests too: `child.js DIRECTORY JSON`, with what `ChildJob` holds. Prints
 * its outcome and what its journal kept as the one line of stdout.
 */
import { closeSync, openSync } from 'node:fs'
import { readKept } from './conservation.ts'
import { perform } from './perform.ts'
import { placeAt } from './scene.ts'
import type { ChildJob } from './start-child.ts'

// Default: the process is killed by it. Ignored: a write past the limit on the size of files fails, as it does on a full disk.
process.on('SIGXFSZ', () => {})
const [, , directory = '', text = '{}'] = process.argv
const { bytes, options, spare, ...job } = JSON.parse(text) as ChildJob
const scene = placeAt(directory)
if (spare !== undefined) {
  // Read before there are too few left: Node opens more files at once for its modules than anything does later.
  await Promise.all([import('../../../src/assembly/local.ts'), import('../../../src/assembly/threaded.ts')])
  const held = holdDescriptors()
  for (const descriptor of held.slice(0, spare)) closeSync(descriptor)
}
const outcome = await perform(scene, { ...job, options, agent: scene.agent({ bytes }) })
// Read here, too: the disk may be one that only this process sees.
const kept = outcome.jobId && (await readKept(scene.journal, outcome.jobId).catch(() => undefined))
process.stdout.write(`${JSON.stringify({ outcome, kept })}\n`)

/** Opens all that this process may. */
function holdDescriptors(): number[] {
  const held: number[] = []
  for (;;)
    try {
      held.push(openSync('/dev/null', 'r'))
    } catch {
      // EMFILE: these are all.
      return held
    }
}
