import { fixCalc } from './env.ts'
import { FIRST_HELD_OUT, VARIANTS } from './variants.ts'

export { env } from './env.ts'

const variants = Array.from({ length: VARIANTS }, (_, variant) => variant)
const named = (kind: string, variant: number) => `${kind}-${String(variant).padStart(2, '0')}`

/** Named for their variant: a table of `variant-07` says more than the default name, which is a hash of the arguments. */
export default [
  ...variants.map(variant => fixCalc({ variant }, { slug: named('variant', variant) })),
  ...variants
    .slice(FIRST_HELD_OUT)
    .map(variant => fixCalc({ variant, bugs: 'unseen' }, { slug: named('unseen', variant) })),
]
