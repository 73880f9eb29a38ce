/** What a coordinator and its workers say to each other through streams. Both are of the same version, which is looked at before anything of this is sent. */
import type { AgentRef } from '../agents/agent.ts'
import type { ErrorData } from '../errors.ts'
import type { GroupId } from '../ids.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { GroupPlan } from '../taskset/plan.ts'
import { joinParts, ownBytes, type Part, pack, unpackFields, unpackHead } from './codec.ts'
import { badClusterMessage } from './errors.ts'

/** Changes with what is said here, and with how. */
export const PROTOCOL = 3

/** One group that a worker is to roll out. */
export interface PlanMessage {
  /** Which life of the job's coordinator sent it. */
  readonly epoch: string
  /** Which of the coordinator's cancels came before it. */
  readonly generation: number
  /** Which handing out of the group this is. */
  readonly start: number
  /** Workers that were lost under it before this handing out. */
  readonly losses: number
  readonly plan: GroupPlan
  /** A module's place is told from the coordinator's working directory on, where it lies below that. */
  readonly agent: AgentRef
  /** Members that have their run. */
  readonly durable: readonly RunHeader[]
  /** The share of its runs that is drawn as traces; absent where nobody draws any. */
  readonly traced?: number
}

/** What comes of a group. It is over once each of its members has a run. */
export type ResultMessage =
  /** One member's run. `trajectory` is packed, as long as the header says; where it is too large, `object` names where it lies. */
  | {
      readonly type: 'run'
      readonly header: RunHeader
      readonly trajectory: Uint8Array | undefined
      readonly object: string | undefined
      /** Of a run that is drawn: packed, see `parseTrace`. */
      readonly trace?: Uint8Array
    }
  /** The worker leaves before the group is over, or needs itself for another: somebody else is to go on with it. */
  | (EndOfPart & { readonly type: 'handed-back'; readonly losses: number })
  /** As many workers were lost under it as may be. */
  | (EndOfPart & { readonly type: 'exhausted' })
  /** The worker's engine cannot go on. */
  | (EndOfPart & { readonly type: 'crashed'; readonly error: ErrorData })

interface EndOfPart {
  readonly groupId: GroupId
  readonly epoch: string
  readonly start: number
}

const ENDS: readonly unknown[] = ['handed-back', 'exhausted', 'crashed'] satisfies ResultMessage['type'][]

export function packPlan(message: PlanMessage): Uint8Array {
  return pack(message)
}

/** A trajectory goes as it is, behind the rest. One result, or several one behind the other, are a message. Throws where its bytes were given away. */
export function toPart(message: ResultMessage): Part {
  if (message.type !== 'run') return { head: pack(message), bytes: NOTHING }
  const { trajectory, ...rest } = message
  // A view of what was given away has no bytes, and would go as an empty one.
  if (trajectory !== undefined && trajectory.byteLength !== message.header.bytes)
    throw new TypeError(`${trajectory.byteLength} bytes of a trajectory of ${message.header.bytes}`)
  return { head: pack(rest), bytes: trajectory ?? NOTHING }
}

export function packResult(message: ResultMessage): Uint8Array {
  return joinParts([toPart(message)])
}

/** Looks at what tells one message from another; the rest was written by the same code. Throws `bad-cluster-message`. */
export function parsePlan(subject: string, bytes: Uint8Array): PlanMessage {
  const fields = unpackFields(subject, bytes)
  const isPlan = typeof fields.epoch === 'string' && typeof fields.plan === 'object' && Array.isArray(fields.durable)
  if (!isPlan) throw badClusterMessage(subject, 'it is no plan')
  return fields as unknown as PlanMessage
}

/** One at least, in the order in which they were sent. Trajectories may be views of `payload`, which must not be written to afterwards. Throws `bad-cluster-message`. */
export function parseResults(subject: string, payload: Uint8Array): readonly ResultMessage[] {
  const results: ResultMessage[] = []
  let at = 0
  do {
    const { fields, end } = unpackHead(subject, payload, at)
    const { type, header, object, groupId, trace } = fields
    at = end
    if (type === 'run' && isHeader(header)) {
      const isHere = object === undefined
      if (!isHere && typeof object !== 'string') throw badClusterMessage(subject, 'its object has no name')
      if (isHere) at += header.bytes
      if (at > payload.byteLength)
        throw badClusterMessage(subject, `its trajectory is not of ${header.bytes} bytes, as its run says`)
      if (trace !== undefined && !(trace instanceof Uint8Array))
        throw badClusterMessage(subject, 'its trace is not packed')
      const drawn = trace === undefined ? {} : { trace }
      results.push({ type, header, trajectory: isHere ? ownBytes(payload, end, at) : undefined, object, ...drawn })
    } else if (ENDS.includes(type) && typeof groupId === 'string') results.push(fields as unknown as ResultMessage)
    else throw badClusterMessage(subject, 'it is no result')
  } while (at < payload.byteLength)
  return results
}

/** As far as it is read before the journal has it. */
function isHeader(header: unknown): header is RunHeader {
  if (typeof header !== 'object' || header === null) return false
  const { runId, groupId, bytes }: Partial<RunHeader> = header
  return typeof runId === 'string' && typeof groupId === 'string' && Number.isSafeInteger(bytes) && Number(bytes) >= 0
}

const NOTHING = new Uint8Array(0)
