import { Environment } from 'troupe/environment'

/** Gives the score that the agent asks for. */
export const env = new Environment('waiting', { version: '1' })

export const wait = env.template('wait', {}, async function* () {
  const answer = yield 'go'
  yield Number(answer)
})
