export { makeReach, type Reach, type ReachOptions } from './reach.ts'
export type { OpenRequest, Reached } from './request.ts'
export type { ServeCommand } from './server.ts'
