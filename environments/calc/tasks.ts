import { fixCalc } from './env.ts'
import { VARIANTS } from './variants.ts'

export { env } from './env.ts'
/** Named for their variant: a table of `variant-07` says more than the default name, which is a hash of the arguments. */
export default Array.from({ length: VARIANTS }, (_, variant) =>
  fixCalc({ variant }, { slug: `variant-${String(variant).padStart(2, '0')}` }),
)
