import { randomBytes } from 'node:crypto'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** One job: a set of groups that are reported, journaled and resumed together. */
export type JobId = Branded<'JobId'>
/** One group: all attempts at one task in one step, compared with each other. */
export type GroupId = Branded<'GroupId'>
/** One member of a group, whatever number of attempts its rollout took. */
export type RunId = Branded<'RunId'>
/** One sandbox, as the pool that owns it names it. */
export type SandboxId = Branded<'SandboxId'>
/** One lease of a sandbox to one rollout. */
export type LeaseId = Branded<'LeaseId'>

/** Where fresh ids come from. Injected, so that a seeded run repeats itself. */
export interface IdSource {
  /** `bytes` bytes as lower-case hex. */
  hex(bytes: number): string
}

/** Ids that nobody can guess. */
export const randomIds: IdSource = { hex: bytes => randomBytes(bytes).toString('hex') }

export const toJobId = (text: string): JobId => text as JobId
export const toGroupId = (text: string): GroupId => text as GroupId
export const toRunId = (text: string): RunId => text as RunId
export const toSandboxId = (text: string): SandboxId => text as SandboxId
export const toLeaseId = (text: string): LeaseId => text as LeaseId
