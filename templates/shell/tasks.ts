import { BUG_NAMES } from './bugs.ts'
import { fixTotal } from './env.ts'

export { env } from './env.ts'

/** Named for their bug: in a table that says more than the default, which is a hash of the arguments. */
export default BUG_NAMES.map(bug => fixTotal({ bug }, { slug: bug }))
