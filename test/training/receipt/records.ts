import type { ReceiptHead } from '../../../src/training/receipt/receipt.ts'
import type { EvaluationRecord, StepRecord } from '../../../src/training/records.ts'

/** A step that was trained on, with `changes`. */
export function stepRecord(step: number, changes: Partial<StepRecord> = {}): StepRecord {
  return {
    step,
    runs: 128,
    solved: 57,
    passRate: 57 / 128,
    errored: 0,
    groupSpread: 0.427_612,
    samples: 1252,
    tokens: 215_978,
    rolloutMs: 18_249.6,
    loss: -4792.081_73,
    datums: 1252,
    chunks: 8,
    trainMs: 9_100,
    optimStep: step + 1,
    end: { type: 'trained', checkpointId: `ckpt-${step + 1}` },
    groups: { planned: 16, trained: 15, withoutSpread: 1, added: 0, dropped: { short: 1 } },
    learningRate: 1e-5,
    versions: { [`v${step}`]: 1252 },
    wallMs: 27_400.2,
    ...changes,
  }
}

export function evaluationRecord(afterSteps: number, split: string, solved: number, runs = 512): EvaluationRecord {
  return { afterSteps, split, runs, solved, passRate: solved / runs, errored: 0, wallMs: 31_200, versions: { v: runs } }
}

export const HEAD: ReceiptHead = {
  name: 'calc',
  model: 'embedded-1a2b',
  trainer: 'embedded',
  seed: 7,
  settings: { group: 8, lossConfig: {} },
  made: { version: '0.1.0', node: 'v20.20.0', cores: 2, platform: 'linux x64' },
}
