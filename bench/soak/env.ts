import { Environment } from 'troupe/environment'

export const env = new Environment('soak', { version: '1' })

/** Grades as it is asked to by the answer. A grader that hangs ends with its session. */
export const soak = env.template('soak', {}, async function* () {
  const answer: unknown = yield 'go'
  if (answer === 'grader-throws') throw new Error('the grader throws')
  if (answer === 'grader-hangs') await new Promise(() => {})
  yield answer === 'no-score' ? Number.NaN : 1
})
