import type { Part } from './timeline.ts'

/** Each part as people read it. */
export const WORDS: Readonly<Record<Part, string>> = {
  beginning: 'beginning',
  'step-before': 'the step before',
  stopped: 'nothing under way',
  turn: 'waiting for a turn',
  'earlier-attempts': 'earlier attempts',
  'sandbox-hit': 'sandbox, ready',
  'sandbox-cold': 'sandbox, cold',
  'sandbox-claim': 'sandbox, claimed',
  'sandbox-fork': 'sandbox, forked',
  'sandbox-none': 'sandbox, never came',
  connecting: 'connecting',
  starting: 'starting',
  model: 'model',
  tools: 'tools',
  agent: 'agent',
  grading: 'grading',
  verifying: 'verifying',
  other: 'between phases',
  cleanup: 'cleanup',
  handover: 'handing over',
  training: 'training',
  optimiser: 'optimiser step',
  closing: 'closing',
}
