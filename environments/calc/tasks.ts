import { fixCalc } from './env.ts'
import { VARIANTS } from './variants.ts'

export { env } from './env.ts'
export default Array.from({ length: VARIANTS }, (_, variant) => fixCalc({ variant }))
