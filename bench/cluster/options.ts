import { TroupeError } from '../../src/errors.ts'
import type { LadderArguments } from '../ladder/options.ts'

/** What is shown of several machines, in the order in which it is done. */
export const CLUSTER_PARTS = ['overhead', 'scale', 'faults'] as const
export type ClusterPart = (typeof CLUSTER_PARTS)[number]

/** Throws `bench-option` naming what `--parts` may be. */
export function parseClusterParts({ parts }: LadderArguments): readonly ClusterPart[] {
  const words = parts?.split(',').map(word => word.trim()) ?? CLUSTER_PARTS
  const unknown = words.find(word => !CLUSTER_PARTS.some(part => part === word))
  if (unknown !== undefined)
    throw new TroupeError({
      tag: 'bench-option',
      message: `--parts ${unknown}: it may be ${CLUSTER_PARTS.join(', ')}`,
    })
  return CLUSTER_PARTS.filter(part => words.includes(part))
}
