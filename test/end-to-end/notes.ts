/** The smallest environment with a workspace, as sources that a user could have written. */

export const NOTE_COUNT = 3

export const NOTE_ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('notes', { version: '1.0.0', workspace: true })
export const note = env.template(
  'note',
  { description: 'Read a note.', args: z.object({ n: z.int(), slowEndMs: z.int().default(0) }) },
  async function* ({ n, slowEndMs }, { workspace }) {
    try {
      await workspace.write('note.txt', String(n))
      const answer = yield 'note ' + n
      yield answer === String(n) ? 1 : 0
    } finally {
      await new Promise(resolve => setTimeout(resolve, slowEndMs))
    }
  },
)
`

export const NOTE_TASKS = `
import { note } from './env.ts'
export default [0, 1, 2].map(n => note({ n }))
`

/**
 * Its config: \`hold\`, notes whose agents wait until the file \`go\` is there; \`holdSecond\`: all but
 * the first agent of a note wait; \`fault\`, what the first agent of note 1 does
 * after waiting for it, once; \`command\`, run after the note was read; \`deadly\`, the note that always
 * ends its thread.
 */
export const NOTE_AGENT = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
const faults = {
  exit: () => process.exit(1),
  hang: () => { for (;;); },
  memory: () => { const kept = []; for (;;) kept.push(new Array(100_000).fill({}).map(() => ({ a: 1 }))) },
}
export default ({ directory, hold = [], holdSecond, fault, command, deadly }) => ({
  name: 'noter',
  async run({ prompt, seed, shell, signal }) {
    appendFileSync(directory + '/starts', prompt + '.' + seed + '\\n')
    const opened = await shell()
    const { stdout } = await opened.exec('cat note.txt', { signal })
    const n = stdout.trim()
    if (n === deadly) process.exit(1)
    if (fault !== undefined && n === '1' && claim(directory + '/faulted')) {
      await go(directory, signal)
      faults[fault]()
    }
    if (command !== undefined) await opened.exec(command, { signal })
    const waits = hold.includes(Number(n)) || (holdSecond === true && !claim(directory + '/first-' + n))
    if (waits) await go(directory, signal)
    return { answer: n, stop: 'done' }
  },
})
function claim(file) {
  try { writeFileSync(file, '', { flag: 'wx' }); return true } catch { return false }
}
async function go(directory, signal) {
  while (!existsSync(directory + '/go')) {
    signal.throwIfAborted()
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
`
