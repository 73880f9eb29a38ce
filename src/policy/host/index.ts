export type { PolicyOptions, ServedPolicy } from './options.ts'
export { servePolicy } from './serve-policy.ts'
export { type StartedPolicy, startPolicy } from './start-policy.ts'
