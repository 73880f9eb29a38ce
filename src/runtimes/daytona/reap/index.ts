export { findLeftovers } from './find-leftovers.ts'
export { type FindOptions, type Leftover, REAP_KINDS, type ReapKind, toHost } from './leftover.ts'
export { type Failure, type RemoveLeftoversOptions, removeLeftovers } from './remove-leftovers.ts'
