import stringWidth from 'string-width'
import * as assert from 'uvu/assert'
import { renderTop } from '../../src/top/render.ts'
import { FIRST_VIEW, LISTS } from '../../src/top/view.ts'
import { toWorkers } from '../dashboard/browser/fixture/workers.ts'
import { makeRun } from '../report/scene.ts'
import { suite } from '../support/suite.ts'
import { AT, FAILURES, rolloutOf, stateOf } from './scene.ts'

const test = suite('troupe top as it is drawn')
const USUAL = { columns: 80, rows: 24 }

test('a training on a usual terminal', () => {
  const state = stateOf({ failures: FAILURES })
  assert.is(
    renderTop(state, USUAL),
    `troupe top  calc  job-1  running  2:05  03:04:05
step 3/10  ███████████████░░░░░ 36/48 runs  2.5/s  7 min left
graded 35  passed 80.0 %  reward 0.80  failed 1  in flight 3  cost 1.23 USD
pool 3/8 ready 3 leased  leases 9 hit 2 cold  hits 90.0 %  credits 12/128
local  threads 2  memory 100 MiB  peak 128 MiB  loop p99 3.50 ms  CPU 24.0 ms  …
steps ▃▅ 25.0 % → 50.0 %  loss 12.3  held-out 25.0 %
agent 2  grading 1
── rollouts 3, the longest first ───────────────────────────────────────────────
task                                           #  phase        in phase   in all
fix-v1                                         3  agent            1:00     1:05
fix-v1                                         1  agent             8 s     41 s
fix-v0                                         2  grading           2 s     30 s
── groups under way 2 ──────────────────────────────────────────────────────────
task                       under way  ended   in all  rewards
fix-v1                             2      0     1:05
fix-v0                             1      0     30 s
── failures 13 ─────────────────────────────────────────────────────────────────
  count  kind                   first example
     12  model-lost             fix-v7: no answer from the model
      1  deadline               fix-v9 while agent: it took longer than 300 s



q quit   tab next list   0 all  1 rollouts  2 groups  3 failures  4 problems   …`,
  )
})

test('a small terminal shows what is most wanted', () => {
  assert.is(
    renderTop(stateOf({ failures: FAILURES }), { columns: 44, rows: 14 }),
    `troupe top  calc  job-1  running  2:05  03:…
step 3/10  ███████░░░ 36/48 runs  2.5/s  7 …
graded 35  passed 80.0 %  reward 0.80  fail…
pool 3/8 ready 3 leased  leases 9 hit 2 col…
local  threads 2  memory 100 MiB  peak 128 …
steps ▃▅ 25.0 % → 50.0 %  loss 12.3  held-o…
agent 2  grading 1
── rollouts 3, the longest first ───────────
task       #  phase        in phase   in all
fix-v1     3  agent            1:00     1:05
fix-v1     1  agent             8 s     41 s
fix-v0     2  grading           2 s     30 s

q quit   tab next list   0 all  1 rollouts …`,
  )
})

test('no line is wider and no screen higher than the terminal, whatever is in it', () => {
  const wide = '名前'.repeat(60)
  const live = Array.from({ length: 64 }, (_, n) =>
    rolloutOf(n, 'agent', n, n, { slug: n % 2 === 0 ? wide : `\u001b[2J${'x'.repeat(200)}` }),
  )
  const problems = [{ at: AT, kind: 'sandbox', tag: 'x', message: wide }]
  const state = stateOf({ live, failures: FAILURES, problems, workers: toWorkers(200, AT) })
  for (const list of ['all', ...LISTS] as const)
    for (const columns of [20, 80, 101])
      for (const rows of [1, 12, 40]) {
        const text = renderTop(state, { columns, rows }, { ...FIRST_VIEW, list })
        const lines = text.split('\n')
        assert.ok(lines.length <= rows, `${list} at ${columns}x${rows} has ${lines.length} lines`)
        assert.not.ok(text.includes('\u001b'))
        for (const line of lines) assert.ok(stringWidth(line) <= columns, `${list} at ${columns}x${rows}: ${line}`)
      }
})

test('workers: how many and how full, those that are silent or lost first, and on one machine nothing of it', () => {
  const workers = toWorkers(4, AT)
  const lines = renderTop(stateOf({ workers }), { columns: 110, rows: 40 }).split('\n')
  const used = workers.credits - workers.creditsFree
  assert.is(lines[4], `workers 4  1 silent  1 draining  2 lost  their rollouts ${used}/${workers.credits}`)
  assert.match(lines.at(-1) ?? '', /4 problems {2}5 workers {3}s sort$/)
  const all = renderTop(stateOf({ workers }), { columns: 110, rows: 20 }, { ...FIRST_VIEW, list: 'workers' }).split(
    '\n',
  )
  assert.match(all[8] ?? '', /^── workers 4 ─/)
  assert.match(all[9] ?? '', /^worker +state +rollouts +ended\/s +groups +ended +boxes +there for$/)
  const [silent, lost] = workers.list
  assert.match(
    all[10] ?? '',
    new RegExp(`^${silent?.node.slice(7)} +silent 2:40 +█+░* +${silent?.rollouts}/64 +\\d\\.\\d +${silent?.groups} `),
  )
  assert.match(
    all[11] ?? '',
    new RegExp(`^${lost?.node.slice(7)} +lost 4 s +${lost?.groups} groups for others soon +${lost?.runs} +1:00:00$`),
  )
  assert.match(all[12] ?? '', /lost 6:40 +\d groups given to others /)
  assert.match(all[13] ?? '', /draining +█{8} +17\/17/)
  assert.match(all[16] ?? '', / left 8:20 /)
  const alone = renderTop(stateOf(), { columns: 110, rows: 40 })
  assert.not.match(alone, 'workers')
})

test('a list that is chosen has the room, and says how much more there is', () => {
  const live = Array.from({ length: 30 }, (_, n) => rolloutOf(n, 'agent', n, 2 * n))
  const lines = renderTop(stateOf({ live, failures: FAILURES }), USUAL, { ...FIRST_VIEW, list: 'rollouts' }).split('\n')
  assert.is(lines.length, 24)
  assert.match(lines[7] ?? '', /^── rollouts 30, the longest first, 16 more ─/)
  assert.match(lines[9] ?? '', /^fix-v1 +29 {2}agent +29 s +58 s$/)
  assert.not.match(lines.join('\n'), 'failures 13')
})

test('groups under way show who has ended and with what', () => {
  const ended = [makeRun(1, 0, { reward: 1 }), makeRun(1, 1, { reward: null }), makeRun(1, 2, { reward: 0.25 })]
  const runs = ended.map(run => ({ ...run, slug: run.task.slug, error: '', startedAt: AT - 90_000 }))
  const live = [rolloutOf(3, 'agent', 5, 20)]
  const text = renderTop(stateOf({ live, runs }), USUAL, { ...FIRST_VIEW, list: 'groups' })
  assert.match(text, /^task +under way +ended +in all +rewards$/m)
  assert.match(text, /^fix-v1 +1 +3 +1:30 +1 – 0\.25$/m)
})

test('rollouts are sorted as was asked', () => {
  const order = (sort: 'longest' | 'phase' | 'task') =>
    [...renderTop(stateOf(), USUAL, { ...FIRST_VIEW, sort }).matchAll(/^fix-v\d +(\d) {2}\w/gm)].map(
      ([, member]) => member,
    )
  assert.equal(order('longest'), ['3', '1', '2'])
  assert.equal(order('phase'), ['3', '1', '2'])
  assert.equal(order('task'), ['2', '1', '3'])
})

test('of a journal that another process writes there is no pool, and nobody knows what is under way', () => {
  const { job, now } = stateOf()
  const text = renderTop(
    stateOf({
      job: { ...job, source: 'followed', threads: null, runtime: null },
      now: { ...now, snapshot: null },
      live: [],
    }),
    USUAL,
  )
  assert.match(text, /running elsewhere, read from its journal/)
  assert.match(text, /^step 3\/10 {2}0 runs ended {2}2\.5\/s {2}7 min left$/m)
  assert.match(text, /only the engine itself knows which are under way/)
  assert.not.match(text, 'pool')
})

test('what is over says so, and takes no more time', () => {
  const { job } = stateOf()
  const text = renderTop(stateOf({ job: { ...job, source: 'over' }, live: [] }), USUAL)
  assert.match(text, /job-1 {2}over {2}/)
  assert.not.match(text, ' left  ')
  assert.not.match(text, 'min left')
})

test('a job of one step knows from its rate how long it takes, and not at once', () => {
  const { job, now } = stateOf()
  const one = (finishedRuns: number) =>
    stateOf({
      job: { ...job, settings: {} },
      now: { ...now, step: null, snapshot: now.snapshot && { ...now.snapshot, finishedRuns } },
      training: { steps: [], evaluations: [] },
    })
  assert.match(renderTop(one(36), USUAL), /^█{15}░{5} 36\/48 runs {2}2\.5\/s {2}5 s left$/m)
  assert.match(renderTop(one(1), USUAL), /1\/48 runs {2}2\.5\/s$/m)
})

test('where nobody limits the rows all lists that have something are there, and no keys', () => {
  const text = renderTop(stateOf({ failures: FAILURES }), { columns: 120, rows: Number.POSITIVE_INFINITY })
  assert.match(text, '── rollouts 3')
  assert.match(text, '── groups under way 2')
  assert.match(text, '── failures 13')
  assert.not.match(text, 'q quit')
})

test.run()
