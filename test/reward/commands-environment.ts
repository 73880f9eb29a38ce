/** The source of an environment whose answers are judged by commands: the numbers of a file, sorted. */
export const COMMANDS_ENVIRONMENT = `
import { commandStatus, Environment, gradeCommand } from 'troupe/environment'

export const env = new Environment('commands', { version: '1.0.0', workspace: true })

const PROMPT = 'Sort the numbers in numbers.txt into answer.txt.'
const NUMBERS = '3\\n1\\n2\\n'
const CHECK = 'test "$(cat answer.txt)" = "$(printf "1\\\\n2\\\\n3")"'
const CHECK_PROGRAM = [
  'import json, sys',
  'numbers = sorted(map(int, open("numbers.txt")))',
  'sys.exit(0 if list(map(int, open("answer.txt").read(1000).split())) == numbers else 1)',
].join('\\n')

async function prepare(workspace) {
  await workspace.write('numbers.txt', NUMBERS)
  await workspace.write('check.py', CHECK_PROGRAM)
}

env.template('shared', {}, async function* (_, { workspace, signal }) {
  await prepare(workspace)
  yield PROMPT
  yield await commandStatus(workspace, CHECK, { timeoutMs: 3_000, signal })
})

env.template('apart', {}, async function* (_, { workspace, signal }) {
  await prepare(workspace)
  yield PROMPT
  yield await gradeCommand({
    workspace,
    command: 'python3 check.py',
    take: ['answer.txt'],
    files: new Map([['check.py', CHECK_PROGRAM], ['numbers.txt', NUMBERS]]),
    timeoutMs: 5_000,
    signal,
  })
})
`
export const RIGHT = '1\n2\n3'
export const WRONG = '1\n3\n2'
