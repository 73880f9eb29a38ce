import type { GroupId } from '../../ids.ts'
import type { Group } from '../../rollout/group.ts'
import type { Run } from '../../rollout/run.ts'
import type { TurnTokens } from '../../rollout/trajectory.ts'
import { hasRewardSpread } from '../../stream/chunker.ts'
import { NO_SPREAD } from './close-step.ts'

/** A group as training sees it. */
export interface InspectedGroup {
  readonly group: Group
  readonly groupId: GroupId
  /** Graded members whose tokens are there and sound: what can be trained on. */
  readonly trainable: readonly Run[]
  readonly verdict: Verdict
  /** Turns with tokens in all its runs, and their output tokens. */
  readonly samples: number
  readonly tokens: number
  /** Turns by the version that put them out. */
  readonly versions: ReadonlyMap<string, number>
}

export type Verdict =
  /** Whole: goes into a chunk with others. */
  | { readonly type: 'train' }
  /** Lacks members: goes in a call of its own. */
  | { readonly type: 'train-short' }
  | { readonly type: 'drop'; readonly reason: string }

/** Reads each trajectory once. `size` is the number of members that were planned. */
export function inspectGroup(group: Group, size: number, shortGroups: 'train' | 'drop'): InspectedGroup {
  const versions = new Map<string, number>()
  const trainable: Run[] = []
  let samples = 0
  let tokens = 0
  let hasBadTokens = false
  for (const run of group.runs) {
    let ofRun = 0
    let isSound = true
    for (const turn of run.trajectory.turns) {
      if (turn.tokens === undefined || turn.tokens.output.length === 0) continue
      ofRun += 1
      tokens += turn.tokens.output.length
      isSound &&= areSound(turn.tokens)
      if (turn.version !== undefined) versions.set(turn.version, (versions.get(turn.version) ?? 0) + 1)
    }
    samples += ofRun
    hasBadTokens ||= !isSound
    if (run.reward !== null && ofRun > 0 && isSound) trainable.push(run)
  }
  const verdict = judge(group, trainable, { size, shortGroups, tokenReason: hasBadTokens ? 'bad-tokens' : 'no-tokens' })
  return { group, groupId: group.groupId, trainable, verdict, samples, tokens, versions }
}

/** A sampler that gives another number of log-probabilities than ids, or none that is a number, is at fault: its run would spoil a whole call. */
function areSound({ logprobs, output }: TurnTokens): boolean {
  return output.length === logprobs.length && logprobs.every(Number.isFinite)
}

function judge(
  group: Group,
  trainable: readonly Run[],
  {
    size,
    shortGroups,
    tokenReason,
  }: { readonly size: number; readonly shortGroups: 'train' | 'drop'; readonly tokenReason: string },
): Verdict {
  if (group.end.type === 'dropped') return { type: 'drop', reason: group.end.reason }
  const graded = group.runs.filter(run => run.reward !== null).length
  // One member is compared with nothing, so it needs no spread.
  const least = Math.min(size, 2)
  if (trainable.length < least) return { type: 'drop', reason: graded < least ? 'short' : tokenReason }
  if (size > 1 && !hasRewardSpread({ ...group, runs: trainable })) return { type: 'drop', reason: NO_SPREAD }
  if (trainable.length === size) return { type: 'train' }
  return shortGroups === 'train' ? { type: 'train-short' } : { type: 'drop', reason: 'short' }
}
