/** What our engine's process can be asked. */
import { fileURLToPath } from 'node:url'
import { type Child, startChild } from '../../../src/ladder/process/child.ts'
import type { EngineFigures } from '../../engine/measure.ts'

export interface OurSettings {
  /** `each`: a TCP connection a rollout, as HUD has it. `shared`: what people get who choose nothing. */
  readonly connections: 'each' | 'shared'
}

export type OurCalls = {
  rollouts(asked: { readonly rollouts: number; readonly width: number }): Promise<EngineFigures>
}

export const startOurs = (settings: OurSettings): Child<OurCalls> =>
  startChild(fileURLToPath(new URL('./our-process.js', import.meta.url)), settings)
