import { oneLine } from '../report/units.ts'
import type { TrainingEvent, TrainingHistory } from '../training/loop/events.ts'
import type { Receipt, ReceiptHead } from '../training/receipt/receipt.ts'
import { makeReceipt } from '../training/receipt/receipt.ts'
import { renderEvaluation, renderStep, renderTraining } from '../training/receipt/render.ts'
import { writeReceipt } from '../training/receipt/write-receipt.ts'
import type { EvaluationRecord, StepRecord } from '../training/records.ts'
import type { Cli } from './cli.ts'

export interface TrainingLog {
  /** Tells of an event and, when there is something new, writes the receipt. Rejects never: what went wrong is told and kept. */
  receive(event: TrainingEvent): Promise<void>
  /** The closing table; empty where nothing was done. */
  readonly words: string
  /** Where the files are. */
  tellPaths(): Promise<void>
  readonly receipt: Receipt
  /** True once the receipt could not be written. */
  readonly hasFailed: boolean
}

export interface TrainingLogOptions {
  readonly head: ReceiptHead
  readonly steps: number
  /** Where the receipt goes. */
  readonly directory: string
  readonly json: boolean
}

const ERROR_WIDTH = 300

/** A line for each thing that happens, on stdout or, where that is for programs, on stderr. */
export function makeTrainingLog({ head, steps, directory, json }: TrainingLogOptions, cli: Cli): TrainingLog {
  const records: { readonly steps: StepRecord[]; readonly evaluations: EvaluationRecord[] } = {
    steps: [],
    evaluations: [],
  }
  const say = async (text: string) => (json ? cli.console.talk(text) : cli.console.print(text))
  let paths: readonly string[] = []
  let hasFailed = false

  async function write(): Promise<void> {
    try {
      const { receiptPath, curvePath } = await writeReceipt(directory, head, records)
      paths = [receiptPath, curvePath]
    } catch (error) {
      // The training itself is sound, and its records are in the journal.
      hasFailed = true
      cli.tell(error)
    }
  }

  async function receive(event: TrainingEvent): Promise<void> {
    switch (event.type) {
      case 'resumed':
        await keepHistory(event.history)
        return write()
      case 'step-ended':
        await keepStep(event.record)
        return write()
      case 'evaluated':
        await keepEvaluation(event.record)
        return write()
      case 'chunk-trained':
        if (event.error !== null)
          cli.console.need(`step ${event.step + 1}, call ${event.call}: ${oneLine(event.error.message, ERROR_WIDTH)}`)
        return
      case 'rolled-back':
        cli.console.talk(`step ${event.step + 1}: ${event.groups.length} groups are sent again (${event.why})`)
        return
      case 'adopted':
        cli.console.talk(`step ${event.step + 1}: its optimiser step had happened; going on from ${event.checkpointId}`)
        return
      case 'step-began':
      case 'stopped':
        return
    }
  }

  /** In the order in which it was told the first time. */
  async function keepHistory({ steps: earlier, evaluations }: TrainingHistory): Promise<void> {
    const told = [
      ...evaluations.map(record => ({ at: record.afterSteps, keep: () => keepEvaluation(record) })),
      ...earlier.map(record => ({ at: record.step + 0.5, keep: () => keepStep(record) })),
    ].sort((one, other) => one.at - other.at)
    for (const { keep } of told) await keep()
  }

  async function keepStep(record: StepRecord): Promise<void> {
    records.steps.push(record)
    await say(renderStep(record, steps))
  }

  async function keepEvaluation(record: EvaluationRecord): Promise<void> {
    records.evaluations.push(record)
    await say(renderEvaluation(record))
  }

  return {
    receive,
    get words() {
      const hasAny = records.steps.length > 0 || records.evaluations.length > 0
      return hasAny ? `\n${renderTraining(makeReceipt(head, records))}` : ''
    },
    async tellPaths() {
      if (paths.length === 0) return
      const written = `written: ${paths.join(', ')}`
      if (json) cli.console.need(written)
      else await cli.console.print(written)
    },
    get receipt() {
      return makeReceipt(head, records)
    },
    get hasFailed() {
      return hasFailed
    },
  }
}
