import * as assert from 'uvu/assert'
import { toGroupId, toRunId } from '../../src/ids.ts'
import { openMemoryJournal } from '../../src/journal/index.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { suite } from '../support/suite.ts'
import { called, exportBoth, jobId, makeJournal, makeTrajectory, type Row, withoutNulls } from './export-scene.ts'
import { makeHeader } from './fixtures.ts'

const test = suite('export shapes')

test('messages: a run is a conversation with its calls and their results, in OpenAI’s form', async () => {
  const { lines, rows, types } = await exportBoth(await makeJournal(), { shape: 'messages' })
  assert.equal(rows, withoutNulls(lines))
  assert.is(types.messages, 'LIST')
  assert.equal(
    lines.map(row => [row.run_id, row.reward, row.policy_version]),
    [
      ['run-0-0-0', 1, 'v1'],
      ['run-0-0-2', 0, 'v1'],
      ['run-0-0-3', 0.5, 'v1'],
      ['run-0-1-0', 1, 'v2'],
      ['run-0-1-1', 1, 'v2'],
    ],
  )
  const call = (id: string, command: string) => ({
    id,
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify({ command }) },
  })
  assert.equal(lines[0]?.messages, [
    { role: 'user', content: 'Repair calc.py' },
    {
      role: 'assistant',
      content: 'I look – naïve ✓',
      tool_calls: [call('call-0', 'ls'), call('call-1', 'cat calc.py')],
    },
    { role: 'tool', content: 'calc.py', tool_call_id: 'call-0' },
    { role: 'tool', content: 'def add', tool_call_id: 'call-1' },
    { role: 'assistant', content: 'mended' },
  ])
  assert.is(lines[0]?.num_prompt_messages, 1)
  assert.is(lines[0]?.task, 'repair-3')
})

test('an agent that calls without a word, and one that only answers, are conversations too', async () => {
  const journal = openMemoryJournal()
  await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  const prompt = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
  ]
  await journal.putRun(
    makeHeader({ member: 0 }),
    packTrajectory({ prompt, turns: [called('ls', 'calc.py')], answer: 'done', grade: { score: 1 } }),
  )
  await journal.putRun(
    makeHeader({ member: 1 }),
    packTrajectory({ prompt: { sum: [1, 2] }, turns: [], answer: '3', grade: { score: 1 } }),
  )
  const { lines } = await exportBoth(journal, { shape: 'messages' })
  const [first, second] = lines.map(row => row.messages as { role: string; content: string }[])
  assert.equal(
    first?.map(({ role, content }) => [role, content]),
    [
      ['system', 'Be brief.'],
      ['user', 'Add.'],
      ['assistant', ''],
      ['tool', 'calc.py'],
      ['assistant', 'done'],
    ],
  )
  assert.equal(second, [
    { role: 'user', content: '{"sum":[1,2]}' },
    { role: 'assistant', content: '3' },
  ])
})

test('preferences: the best of a group with its worst, no run twice, and nothing where all agree', async () => {
  const { lines, rows } = await exportBoth(await makeJournal(), { shape: 'preferences' })
  assert.equal(rows, withoutNulls(lines))
  assert.equal(
    lines.map(row => [row.chosen_run_id, row.chosen_reward, row.rejected_run_id, row.rejected_reward]),
    [['run-0-0-0', 1, 'run-0-0-2', 0]],
  )
  const [pair] = lines
  assert.equal(pair?.prompt, [{ role: 'user', content: 'Repair calc.py' }])
  const last = (messages: unknown) => (Array.isArray(messages) ? messages.at(-1) : undefined)
  assert.equal(last(pair?.chosen), { role: 'assistant', content: 'mended' })
  assert.equal(last(pair?.rejected), { role: 'assistant', content: 'given up' })
})

test('attempts that were asked different things are no pair', async () => {
  const journal = openMemoryJournal()
  await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  for (const member of [0, 1])
    await journal.putRun(
      makeHeader({ member, reward: member }),
      packTrajectory({ ...makeTrajectory('x'), prompt: `variant ${member}` }),
    )
  assert.equal((await exportBoth(journal, { shape: 'preferences' })).lines, [])
})

test('a run without a grade is left out or has no reward, as one wishes; it never has a reward of 0', async () => {
  const journal = await makeJournal()
  for (const shape of ['messages', 'tokens'] as const) {
    const { lines } = await exportBoth(journal, { shape })
    assert.equal(
      lines.filter(row => row.reward === null || row.run_id === 'run-0-0-1'),
      [],
    )
  }
  const { lines, rows } = await exportBoth(journal, { shape: 'messages', ungraded: 'keep' })
  const kept = lines.find(row => row.run_id === 'run-0-0-1')
  assert.equal([kept?.reward, kept?.advantage, kept?.messages], [null, null, []])
  const inParquet = rows.find(row => row.run_id === 'run-0-0-1')
  assert.equal(['reward' in (inParquet ?? {}), inParquet?.messages], [false, []])
  const without = await exportBoth(journal, { shape: 'runs', ungraded: 'leave-out' })
  assert.equal([without.lines.length, without.rows.length], [7, 7])
})

test('what only measured is not among what is trained on, unless it is asked for', async () => {
  const journal = await makeJournal()
  const measured = (lines: readonly Row[]) => lines.filter(row => row.step === 1_000_000).length
  assert.is(measured((await exportBoth(journal, { shape: 'messages' })).lines), 0)
  assert.is(measured((await exportBoth(journal, { shape: 'messages', evaluations: 'keep' })).lines), 2)
  assert.is(measured((await exportBoth(journal, { shape: 'runs' })).lines), 2)
})

test('a group is whole and together even where two have one place', async () => {
  const journal = openMemoryJournal()
  await journal.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  for (const member of [0, 1])
    for (const group of ['a', 'b'])
      await journal.putRun(
        makeHeader({
          member,
          reward: member,
          groupId: toGroupId(group),
          runId: toRunId(`run-${group}-${member}`),
        }),
        packTrajectory(makeTrajectory('x')),
      )
  const { lines } = await exportBoth(journal, { shape: 'messages' })
  assert.equal(
    lines.map(row => row.run_id),
    ['run-a-0', 'run-a-1', 'run-b-0', 'run-b-1'],
  )
  assert.equal(
    lines.map(row => Math.sign(row.advantage as number)),
    [-1, 1, -1, 1],
  )
})

test.run()
