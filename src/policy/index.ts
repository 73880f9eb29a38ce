export { type PolicyOptions, type ServedPolicy, type StartedPolicy, servePolicy, startPolicy } from './host/index.ts'
export type { PolicyContents } from './policy-contents.ts'
export type { Demonstration, DemonstrationSource, WarmUpSettings } from './warm-up/demonstrations.ts'
export { type WarmUpOptions, type WarmUpStep, warmUp } from './warm-up/warm-up.ts'
