import { Environment } from 'troupe/environment'

/** Costs nothing by itself: what is measured is the way there and back. */
export const env = new Environment('noop', { version: '1' })

export const noop = env.template('noop', {}, async function* () {
  yield 'go'
  yield 1
})
