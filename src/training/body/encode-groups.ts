import { toPacked } from '../../rollout/pack.ts'
import type { Run } from '../../rollout/run.ts'
import type { InputGroup } from '../check-groups.ts'
import type { Envelope } from '../payload.ts'
import type { Encoder, Fragment } from './encoder.ts'

/** A group as it is sent: JSON of each member, so that a body can be put together anew without encoding anything twice. */
export interface EncodedGroup {
  readonly groupId: string
  readonly runIds: readonly string[]
  readonly fragments: readonly Uint8Array[]
  readonly bytes: number
  readonly datums: number
}

/** A request's body, and how long it is. */
export interface Body {
  readonly bytes: number
  readonly chunks: readonly Uint8Array[]
}

/** Bounds what is copied for the thread before its answers come, and with it how long the calling thread is busy at a stretch. */
const RUNS_IN_FLIGHT = 8
const utf8 = new TextEncoder()

/** Rejects with the first error in the order of the inputs, when nothing is under way any more. */
export async function encodeGroups(encoder: Encoder, groups: readonly InputGroup[]): Promise<EncodedGroup[]> {
  const inputs = groups.flatMap(group => group.inputs)
  const fragments: (Fragment | undefined)[] = []
  const failures: { readonly place: number; readonly error: unknown }[] = []
  const places = inputs.entries()
  const work = async (): Promise<void> => {
    for (const [place, input] of places) {
      if (failures.length > 0) return
      try {
        fragments[place] =
          typeof input === 'string'
            ? { json: utf8.encode(`,${JSON.stringify(input)}`), datums: 0 }
            : await encodeRun(encoder, input)
      } catch (error) {
        failures.push({ place, error })
      }
    }
  }
  await Promise.all(Array.from({ length: RUNS_IN_FLIGHT }, work))
  const [first] = failures.sort((one, other) => one.place - other.place)
  if (first !== undefined) throw first.error
  let next = 0
  return groups.map(group => {
    const members = fragments.slice(next, next + group.inputs.length).flatMap(fragment => fragment ?? [])
    next += group.inputs.length
    return {
      groupId: group.groupId,
      runIds: group.inputs.map(input => (typeof input === 'string' ? input : input.runId)),
      fragments: members.map(({ json }) => json),
      bytes: members.reduce((sum, { json }) => sum + json.byteLength, 0),
      datums: members.reduce((sum, { datums }) => sum + datums, 0),
    }
  })
}

/** The fragments themselves, in their envelope; nothing is copied. */
export function toBody({ head, tail }: Envelope, fragments: readonly Uint8Array[]): Body {
  const [first, ...rest] = fragments
  const chunks: Uint8Array[] = [utf8.encode(head)]
  // Without its comma.
  if (first !== undefined) chunks.push(first.subarray(1), ...rest)
  chunks.push(utf8.encode(tail))
  return { bytes: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0), chunks }
}

function encodeRun(encoder: Encoder, run: Run): Promise<Fragment> {
  // A copy of its own length: what a view belongs to may be much longer, and the run keeps its bytes.
  return encoder.encodeRun(run.runId, run.reward ?? Number.NaN, new Uint8Array(toPacked(run)))
}
