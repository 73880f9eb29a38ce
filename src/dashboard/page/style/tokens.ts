/** Each colour on light and on dark ground. Texts have at least 4.5 : 1 on `card` and on `paper`. */
export const TOKENS = {
  paper: ['#f4f6f8', '#11161b'],
  card: ['#ffffff', '#1a2027'],
  sunken: ['#f4f6f8', '#141a20'],
  ink: ['#17202b', '#e7ecf1'],
  quiet: ['#52606e', '#a0adba'],
  line: ['#d9dfe5', '#303a45'],
  grid: ['#e8ecf0', '#28323c'],
  accent: ['#00609c', '#73bdf0'],
  alarm: ['#a34200', '#ff9f66'],
  good: ['#00664a', '#55cda6'],
  focus: ['#00609c', '#9ad2f7'],
  'alarm-ground': ['#fdf0e6', '#33221a'],
  'good-ground': ['#e3f4ee', '#16302a'],
  'part-ground': ['#fbf3d9', '#332d17'],
  'likely-1': ['#fbf6e6', '#2b2a1f'],
  'likely-2': ['#f8e9bd', '#463c17'],
  'likely-3': ['#f5d593', '#5f4a12'],
  'likely-4': ['#f0b565', '#7d4a0c'],
} as const satisfies Readonly<Record<string, readonly [light: string, dark: string]>>
export type TokenName = keyof typeof TOKENS

/** A colour for what is drawn on a canvas, which cannot read the style sheet's names. */
export function tokenColour(name: TokenName, isDark: boolean): string {
  return TOKENS[name][isDark ? 1 : 0]
}

/** The style sheet's own names for them. */
export const TOKEN_RULES = Object.entries(TOKENS)
  .map(([name, [light, dark]]) => `  --${name}: light-dark(${light}, ${dark});`)
  .join('\n')
