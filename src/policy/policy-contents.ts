import type { ModelShape, TrainingState, Weights } from './policy.ts'
import type { TokenizerData } from './tokenizer-data.ts'

/** Everything about a policy that a file holds. */
export interface PolicyContents {
  readonly name: string
  readonly shape: ModelShape
  readonly tokenizer: TokenizerData
  /** The settings of the script that made it, for people: plain data. */
  readonly made: Readonly<Record<string, unknown>>
  readonly weights: Weights
  /** What training goes on from, where that is kept too; its weights are `weights`. */
  readonly training?: Omit<TrainingState, 'weights'>
}
