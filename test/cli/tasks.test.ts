import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli: what task rows ask for')

const named = (name: string) => `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('${name}')
env.template('say', { args: z.object({ word: z.string() }), returns: z.object({ said: z.string() }) }, async function* ({ word }) {
  const { content } = yield [
    { role: 'system', content: 'You speak.' },
    { role: 'user', content: [{ type: 'text', text: 'say ' + word }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
  ]
  yield { score: content.said === word ? 0.5 : 0, info: { heard: content } }
})
env.template('check', {}, async function* () {
  const { score, answer } = yield ''
  yield score === 0.5 && answer.said === '${name}' ? 1 : 0
})
`
const row = (env: string, more: object = {}) => ({ env, id: 'say', args: { word: env }, slug: env, ...more })
const AGENT = `
export default () => ({
  name: 'says',
  run: async ({ prompt, returns }) => ({
    answer: returns === undefined ? 'nothing was asked' : { said: prompt[1].content[0].text.slice(4) },
    stop: 'done',
  }),
})
`
let cwd = ''

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-rows-'))
  const rows = [
    row('one', { verifier: { env: 'two', id: 'check' } }),
    row('two', { verifier: { env: 'two', id: 'check' } }),
  ]
  const files = {
    'one.ts': named('one'),
    'two.ts': named('two'),
    'agent.mjs': AGENT,
    'rows.jsonl': rows.map(each => JSON.stringify(each)).join('\n'),
    'sized.jsonl': JSON.stringify(row('one', { runtime_config: { resources: { cpu: 2 } } })),
    'told.jsonl': JSON.stringify(row('one', { agent_config: { max_steps: 3 } })),
    'wrong.jsonl': JSON.stringify(row('one', { runtime_config: { resources: { memory: '2GiB' } } })),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
})
test.after(() => rm(cwd, { recursive: true, force: true }))

const environments = ['--env', 'one=one.ts', '--env', 'two=two.ts']

test('tasks of several environments run side by side, and show and export have both grades of a verified run', async () => {
  const argv = ['eval', 'rows.jsonl', 'agent.mjs', '--all', '--json', '--threads', '1', ...environments]
  const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
  assert.is(exitCode, 0, stderr)
  // The verifier of the second environment grades the first's run by its own name.
  assert.equal(resultOf(stdout).meanReward, 0.5)
  const exported = await troupe(['export'], { cwd })
  const rows = exported.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(rows.map(({ slug, reward, grade, actor_grade: own }) => [slug, reward, grade.score, own.score]).sort(), [
    ['one', 0, 0, 0.5],
    ['two', 1, 1, 0.5],
  ])
  const shown = await troupe(['show', rows.find(({ slug }) => slug === 'two').run_id], { cwd })
  assert.match(shown.stdout, /reward 1\b/)
  assert.match(shown.stdout, /verifier check of two/)
  assert.match(shown.stdout, /\[system\] You speak\.\s+\[user\] say two\s+\(image\)/)
  assert.match(
    shown.stdout,
    /── the task's own grade\n[^─]*"score": 0\.5[^─]*── grade of record, the verifier's\n[^─]*"score": 1\b/,
  )
})

test('a task is played by hand as an agent is asked it, with its verifier’s grade', async () => {
  const argv = ['play', 'rows.jsonl', 'two', '--answer', '{"said": "two"}', '--env', 'two.ts']
  const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
  assert.is(exitCode, 0, stderr)
  assert.match(stderr, /\[system\] You speak\.\n\n\[user\] say two\n\(image\)/)
  assert.match(stderr, /answer with one JSON value .*\n\{"type":"object"/)
  assert.is(stdout, '1\n')
  const elsewhere = await troupe(['play', 'rows.jsonl', 'one', '--answer', '{"said": "one"}', ...environments], { cwd })
  assert.equal([elsewhere.exitCode, elsewhere.stdout], [0, '0.5\n'], elsewhere.stderr)
  assert.match(elsewhere.stderr, /its verifier, whose grade counts, gets a sandbox of its own/)
})

test('what a row asks and nothing here can do is told with the row, before anything runs', async () => {
  for (const [tasks, agent, words] of [
    ['sized.jsonl', 'agent.mjs', /one: runtime_config\.resources: the local runtime makes all its sandboxes alike/],
    ['told.jsonl', 'scripted', /one: agent_config: .*maxSteps/],
    ['wrong.jsonl', 'agent.mjs', /wrong\.jsonl:1: "runtime_config\.resources\.memory" is no field/],
  ] as const) {
    const { exitCode, stderr } = await troupe(['eval', tasks, agent, '--all', '--env', 'one.ts', '--no-journal'], {
      cwd,
    })
    assert.is(exitCode, 2, stderr)
    assert.match(stderr, words)
  }
  const played = await troupe(['play', 'sized.jsonl', '--env', 'one.ts', '--answer', 'x'], { cwd })
  assert.is(played.exitCode, 2)
  assert.match(played.stderr, /runtime_config\.resources/)
})

test('environments that are named wrongly are told', async () => {
  for (const [argv, words] of [
    [['--env', 'one.ts', '--env', 'two=two.ts'], /Name one file, or NAME=FILE for each/],
    [['--env', 'one=one.ts', '--env', 'one=two.ts'], /"one" is named twice/],
    [['--env', 'one=one.ts'], /no runtime is routed for the environment "two"; there is a route for one/],
    [['--env', 'one=one.ts', '--runtime', 'docker', '--image', 'x'], /--env NAME=FILE and --runtime docker/],
  ] as const) {
    const { exitCode, stderr } = await troupe(['eval', 'rows.jsonl', 'agent.mjs', '--all', '--no-journal', ...argv], {
      cwd,
    })
    assert.is(exitCode, 2, stderr)
    assert.match(stderr, words)
  }
})

test.run()
