import { toGroupId, toJobId } from '../../src/ids.ts'
import type { Group, GroupEnd } from '../../src/rollout/group.ts'
import { toRun } from '../../src/rollout/pack.ts'
import { makeHeader } from '../journal/fixtures.ts'

export interface GroupShape {
  readonly index: number
  readonly step?: number
  readonly rewards?: readonly (number | null)[]
  readonly bytesEach?: number
  readonly end?: GroupEnd
}

/** A group whose runs have these rewards; nothing in the stream looks into their trajectories. */
export function makeGroup(shape: GroupShape): Group {
  const { index, step = 0, rewards = [0, 1], bytesEach = 10, end = { type: 'complete' } } = shape
  const runs = rewards.map((reward, member) =>
    toRun(makeHeader({ step, index, member, reward, bytes: bytesEach }), new Uint8Array(0)),
  )
  return {
    jobId: toJobId('job-1'),
    groupId: toGroupId(`group-${step}-${index}`),
    step,
    index,
    task: makeHeader().task,
    end,
    runs,
    bytes: runs.length * bytesEach,
  }
}
