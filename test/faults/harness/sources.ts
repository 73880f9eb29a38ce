/** The environment and the agent of the fault suite, as sources that a user could have written. Both call `arrive` at each phase. */

/**
 * Counts arrivals at a phase over all processes and threads of a scene, and does what the schedule says of this one. A schedule is a
 * list of moments: `phase`, with `arrival` (the k-th in the whole job) or `task` (each of that task), and what is done there.
 */
export const ARRIVE = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
const directory = dirname(fileURLToPath(import.meta.url))
const schedule = JSON.parse(readFileSync(directory + '/schedule.json', 'utf8'))
const never = () => new Promise(() => {})
const acts = {
  exit: () => process.exit(1),
  throw: () => { setImmediate(() => { throw new Error('a stray error') }); return never() },
  reject: () => { void Promise.reject(new Error('a stray rejection')); return never() },
  spin: () => { for (;;); },
  freeze: () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) },
  memory: () => { const kept = []; for (;;) kept.push(new Array(100_000).fill({}).map(() => ({ a: 1 }))) },
  'kill-engine': () => { process.kill(process.pid, 'SIGKILL') },
  'kill-host': () => { process.kill(Number(readFileSync(directory + '/host', 'utf8')), 'SIGKILL') },
  'stop-host': () => { process.kill(Number(readFileSync(directory + '/host', 'utf8')), 'SIGSTOP') },
  async wait() {
    for (let turn = 0; turn < 2_000 && !existsSync(directory + '/go'); turn += 1)
      await new Promise(resolve => setTimeout(resolve, 10))
  },
}
export async function arrive(phase, task) {
  const arrival = claim(phase)
  const moment = schedule.find(each => each.phase === phase && (each.arrival === arrival || (task !== undefined && each.task === task)))
  if (moment === undefined) return
  writeFileSync(directory + '/struck-' + phase + '-' + arrival, moment.act)
  await acts[moment.act]()
}
function claim(phase) {
  for (let arrival = 1; ; arrival += 1)
    try {
      writeFileSync(directory + '/' + phase + '-' + arrival, '', { flag: 'wx' })
      return arrival
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
}
`

/** The answer to \`say n\` is n. No workspace: a session costs nothing. */
export const ENVIRONMENT = `
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Environment, z } from 'troupe/environment'
import { arrive } from './arrive.mjs'
export const env = new Environment('faulty', { version: '1.0.0' })
env.onServe(() => {
  writeFileSync(dirname(fileURLToPath(import.meta.url)) + '/host', String(process.pid))
  return arrive('serving')
})
env.onSessionStart(() => arrive('connecting'))
env.onTeardown((_, reason) => (reason === 'closed' ? arrive('cleanup') : undefined))
export const say = env.template(
  'say',
  { description: 'Say the number.', args: z.object({ n: z.int() }) },
  async function* ({ n }) {
    await arrive('starting', n)
    const answer = yield 'say ' + n
    await arrive('grading', n)
    yield answer === String(n) ? 1 : 0
  },
)
`

/** Its config: \`bytes\`, how much each of its trajectories holds. */
export const AGENT = `
import { arrive } from './arrive.mjs'
export default ({ bytes = 1 }) => ({
  name: 'sayer',
  async run({ prompt, record }) {
    const answer = /\\d+/.exec(prompt)[0]
    await arrive('agent', Number(answer))
    record({ role: 'assistant', text: answer.padEnd(bytes, ' '), atMs: 0, tookMs: 0 })
    return { answer, stop: 'done' }
  },
})
`
