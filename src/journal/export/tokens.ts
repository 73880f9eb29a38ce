import type { Trajectory, TurnTokens } from '../../rollout/trajectory.ts'
import { toAdvantages } from './advantages.ts'
import { FLOAT, INT32, integer, numbers, TOKEN_ID } from './columns.ts'
import { readTrajectory } from './groups.ts'
import { RUN_COLUMNS, type RunColumns, toRunColumns } from './messages.ts'
import type { ExportShape } from './shape.ts'

/** One sample as trainers on tokens read it (GRPO and its kin): ids as they came from the sampler, never tokenised again. */
export interface TokensRow extends RunColumns {
  /** The first turn of the run that is in it, from 0, and how many there are. */
  readonly turn: number
  readonly num_turns: number
  readonly prompt_token_ids: readonly number[]
  /** What came after the prompt. */
  readonly completion_token_ids: readonly number[]
  /** Of each completion id, natural; 0 where the mask is 0. */
  readonly logprobs: readonly number[]
  /** 1 for an id that the policy put out, 0 for one that was put in between turns. */
  readonly loss_mask: readonly number[]
}

/** A row a turn. A turn without tokens is none, and neither is one whose sampler gave another number of logprobs than ids, or one that is no number. */
export const tokens: ExportShape<TokensRow> = makeShape(turns => turns.map(turn => [turn]))

/**
 * A row for all turns in a row whose prompt goes on where the turn before ended, as the sampler saw them, and that the same weights
 * put out: what a tool said stands in the completion, masked.
 */
export const mergedTokens: ExportShape<TokensRow> = makeShape(mergeTurns)

/** A turn with tokens, and its place in the run. */
interface TokenTurn {
  readonly turn: number
  readonly version: string | null
  readonly tokens: TurnTokens
}

function makeShape(split: (turns: readonly TokenTurn[]) => readonly (readonly TokenTurn[])[]): ExportShape<TokensRow> {
  return {
    noun: 'samples',
    async *rows(journal, { headers }) {
      const advantages = toAdvantages(headers)
      for (const header of headers) {
        const trajectory = await readTrajectory(journal, header)
        for (const turns of split(toTokenTurns(trajectory))) {
          const [first] = turns
          if (first === undefined) continue
          yield { ...toRunColumns(header, advantages, first.version), ...toSample(first, turns) }
        }
      }
    },
    columns: [
      ...RUN_COLUMNS,
      integer('turn', row => row.turn),
      integer('num_turns', row => row.num_turns),
      numbers('prompt_token_ids', TOKEN_ID, row => row.prompt_token_ids),
      numbers('completion_token_ids', TOKEN_ID, row => row.completion_token_ids),
      numbers('logprobs', FLOAT, row => row.logprobs),
      numbers('loss_mask', INT32, row => row.loss_mask),
    ],
    weigh: row => row.prompt_token_ids.length + 3 * row.completion_token_ids.length,
  }
}

function toTokenTurns({ turns }: Trajectory): TokenTurn[] {
  return turns.flatMap(({ tokens, version }, turn) =>
    tokens === undefined || !areSound(tokens) ? [] : [{ turn, version: version ?? null, tokens }],
  )
}

function areSound({ output, logprobs }: TurnTokens): boolean {
  return output.length > 0 && output.length === logprobs.length && logprobs.every(Number.isFinite)
}

function mergeTurns(turns: readonly TokenTurn[]): TokenTurn[][] {
  const merged: TokenTurn[][] = []
  for (const turn of turns) {
    const open = merged.at(-1)
    const before = open?.at(-1)
    if (
      open !== undefined &&
      before !== undefined &&
      before.version === turn.version &&
      goesOn(before.tokens, turn.tokens)
    )
      open.push(turn)
    else merged.push([turn])
  }
  return merged
}

function goesOn({ prompt, output }: TurnTokens, next: TurnTokens): boolean {
  if (next.prompt.length < prompt.length + output.length) return false
  return (
    prompt.every((id, place) => next.prompt[place] === id) &&
    output.every((id, place) => next.prompt[prompt.length + place] === id)
  )
}

function toSample(first: TokenTurn, turns: readonly TokenTurn[]) {
  const ids: number[] = []
  const logprobs: number[] = []
  const mask: number[] = []
  const start = first.tokens.prompt.length
  for (const { tokens } of turns) {
    const between = tokens.prompt.subarray(start + ids.length)
    append(ids, between)
    for (const _ of between) {
      logprobs.push(0)
      mask.push(0)
    }
    append(ids, tokens.output)
    append(logprobs, tokens.logprobs)
    for (const _ of tokens.output) mask.push(1)
  }
  return {
    turn: first.turn,
    num_turns: turns.length,
    prompt_token_ids: [...first.tokens.prompt],
    completion_token_ids: ids,
    logprobs,
    loss_mask: mask,
  }
}

/** Spread into `push`, a long turn would be more arguments than a call may have. */
function append(to: number[], values: Iterable<number>): void {
  for (const value of values) to.push(value)
}
