import type { EvaluationRow, Receipt } from './receipt.ts'

/** One place of a curve. */
export interface CurvePoint {
  /** Training steps that were over before the runs were rolled out. */
  readonly at: number
  /** From 0 to 1. */
  readonly rate: number
  readonly interval?: readonly [low: number, high: number]
}

export interface Curves {
  readonly train: readonly CurvePoint[]
  readonly splits: readonly { readonly split: string; readonly points: readonly CurvePoint[] }[]
  /** How far the axis must reach. */
  readonly lastStep: number
}

/** A step stands where its rollouts were made: after as many steps as came before it, skipped ones included. */
export function toCurves({ steps, evaluations }: Pick<Receipt, 'steps' | 'evaluations'>): Curves {
  const names = [...new Set(evaluations.map(row => row.split))]
  return {
    train: steps.map(row => ({ at: row.step, rate: row.pass_rate })),
    splits: names.map(split => ({ split, points: evaluations.filter(row => row.split === split).map(toPoint) })),
    lastStep: Math.max(0, ...steps.map(row => row.step + 1), ...evaluations.map(row => row.after_steps)),
  }
}

function toPoint(row: EvaluationRow): CurvePoint {
  return { at: row.after_steps, rate: row.pass_rate, interval: row.interval }
}
