import type { Outcome, Phase } from '../../rollout/run.ts'

/** How a phase looks: Okabe and Ito's colours, which colour-blind people tell apart, and a height of its own for those who see none. */
export interface PhaseLook {
  readonly name: string
  readonly colour: string
  /** Share of the lane's height. */
  readonly tall: number
}

/** In the order of a rollout's life. */
export const PHASE_LOOKS: Readonly<Record<Phase, PhaseLook>> = {
  provisioning: { name: 'provisioning', colour: '#56b4e9', tall: 0.4 },
  connecting: { name: 'connecting', colour: '#0072b2', tall: 0.55 },
  starting: { name: 'starting', colour: '#cc79a7', tall: 0.7 },
  agent: { name: 'agent', colour: '#009e73', tall: 1 },
  grading: { name: 'grading', colour: '#e69f00', tall: 0.85 },
  verifying: { name: 'verifying', colour: '#f0e442', tall: 0.7 },
  cleanup: { name: 'cleanup', colour: '#8b96a3', tall: 0.4 },
}

/** `PHASES` of the engine, which the browser cannot import. */
export const PHASE_ORDER: readonly Phase[] = [
  'provisioning',
  'connecting',
  'starting',
  'agent',
  'grading',
  'verifying',
  'cleanup',
]

/** Before the page was there to see it. */
export const UNSEEN_COLOUR = '#a9b4bf'
/** Failures and stragglers: Okabe and Ito's vermillion. */
export const ALARM_COLOUR = '#d55e00'
/** Lines of charts, in the order in which they are given out, on light and on dark ground: Okabe and Ito's, without the yellow, which vanishes on white. */
export const LINE_COLOURS = {
  light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8b96a3'],
  dark: ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#0072b2', '#8b96a3'],
} as const
/** So that lines are told apart without their colour. */
export const LINE_SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'arrow'] as const

/** Beside the colour, a sign and words. */
export const OUTCOME_SIGNS: Readonly<Record<Outcome, string>> = {
  graded: '✓',
  'agent-error': 'A',
  'environment-error': 'E',
  'infrastructure-error': 'I',
  cancelled: '–',
}
