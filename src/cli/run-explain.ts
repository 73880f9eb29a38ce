import { explainJob, pickStep, renderExplanation, toJson } from '../explain/index.ts'
import { replaceFile } from '../replace-file.ts'
import type { Cli } from './cli.ts'
import type { ExplainArguments } from './commands/explain.ts'
import { notWritten, unknownRecord } from './errors.ts'
import { findJob, readJobs, readJournal } from './journal-reader.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling } from './telling.ts'

/** Where the time of a job's steps went, from its journal. */
export async function runExplain(text: string | undefined, options: ExplainArguments, outer: Cli): Promise<void> {
  const { quiet } = options
  const telling = openTelling(quiet === undefined ? {} : { quiet }, outer)
  const { console, clock } = telling.cli
  await readJournal(options.journal, clock, async journal => {
    const job = text === undefined ? (await readJobs(journal))[0] : await findJob(journal, text)
    if (job === undefined) throw unknownRecord('job', 'newest', options.journal)
    const counter = makeCounter({ unit: 'runs read', total: null, clock })
    const shown = telling.show(counter.view, { passing: true })
    const explained = await explainJob(journal, job, { onRun: () => counter.done() }).finally(() => shown.stop())
    const step = pickStep(explained, options.step)
    await console.print(options.json === true ? toJson(explained, step) : renderExplanation(explained, step))
    if (options.out === undefined) return
    // The library of charts is loaded for those who want one.
    const { drawStep } = await import('../explain/picture.ts')
    const { out } = options
    await replaceFile(out, drawStep(explained, step)).catch(error => {
      throw notWritten(out, error)
    })
    console.need(`drawn: ${out}`)
  })
}
