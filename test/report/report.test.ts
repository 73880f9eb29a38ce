import * as assert from 'uvu/assert'
import { renderReport } from '../../src/report/render.ts'
import { isWhole, makeReport } from '../../src/report/report.ts'
import { suite } from '../support/suite.ts'
import { makeRun, makeSource } from './scene.ts'

const test = suite('report')

const lost = { tag: 'host-lost', message: 'the environment host ended with exit code 9; see its stderr' }
const runs = [10, 2, 3].flatMap(variant => [0, 1, 2].map(member => makeRun(variant, member)))
const failed = [
  makeRun(4, 0, {
    outcome: 'infrastructure-error',
    stopReason: 'sandbox-lost',
    failedPhase: 'agent',
    reward: null,
    lease: null,
    error: lost,
  }),
  makeRun(4, 1, {
    outcome: 'infrastructure-error',
    stopReason: 'sandbox-lost',
    failedPhase: 'agent',
    reward: null,
    lease: null,
    error: lost,
  }),
  makeRun(4, 2, { outcome: 'agent-error', stopReason: 'deadline', failedPhase: 'agent', reward: 1 }),
]

test('an ungraded run counts as a failure and never as a reward of zero', () => {
  const report = makeReport(makeSource([...runs, ...failed]))
  assert.equal([report.runs.finished, report.runs.graded, report.runs.passed], [12, 10, 4])
  assert.is(report.passRate, 0.4)
  assert.is(report.meanReward, 0.4)
  assert.is(isWhole(report), false)
  const variant = report.variants.find(({ slug }) => slug === 'fix-v4')
  assert.equal([variant?.graded, variant?.passRate], [1, 1])
})

test('variants come in the order people number them, and the column that names them is no facet', () => {
  const report = makeReport(makeSource(runs))
  assert.equal(
    report.variants.map(({ slug }) => slug),
    ['fix-v2', 'fix-v3', 'fix-v10'],
  )
  assert.equal(
    report.facets.map(({ facet, values }) => [facet, values.map(({ value, tasks, runs: n }) => [value, tasks, n])]),
    [
      [
        'bugs',
        [
          ['4', 2, 6],
          ['5', 1, 3],
        ],
      ],
    ],
  )
  assert.ok(isWhole(report))
})

test('spread is told of groups in which rewards differ; one reward cannot differ', () => {
  const even = [0, 1, 2].map(member => makeRun(7, member, { reward: 0.1 + 0.2 }))
  const alone = [makeRun(8, 0)]
  const { spread } = makeReport(makeSource([...runs, ...even, ...alone]))
  assert.equal([spread.groups, spread.withSpread, spread.share], [4, 3, 0.75])
  assert.ok(Math.abs((spread.meanStd ?? 0) - (3 * Math.sqrt(2 / 9)) / 4) < 1e-9)
})

test('failures are counted by who, why and error, the most frequent first, with the first of each', () => {
  const { failures } = makeReport(makeSource([...failed, ...runs]))
  assert.equal(
    failures.map(({ errorTag, count, graded, example }) => [errorTag, count, graded, example.runId]),
    [
      ['host-lost', 2, 0, 'run-4-0'],
      [null, 1, 1, 'run-4-2'],
    ],
  )
})

test('stages are percentiles over the runs that reached them', () => {
  const many = Array.from({ length: 100 }, (_, member) =>
    makeRun(1, member, { timings: member < 20 ? { agent: member + 1, grading: 0.25 } : { agent: member + 1 } }),
  )
  const { stages } = makeReport(makeSource(many))
  assert.equal(
    stages.map(({ stage, runs: n }) => [stage, n]),
    [
      ['agent', 100],
      ['grading', 20],
      ['total', 100],
    ],
  )
  const [agent, grading] = stages
  assert.ok(Math.abs((agent?.p50Ms ?? 0) - 50) < 0.1 && Math.abs((agent?.p95Ms ?? 0) - 95) < 0.1)
  assert.ok(Math.abs((agent?.maxMs ?? 0) - 100) < 0.1)
  assert.is(grading?.p50Ms, 0.25)
})

test('runs that an earlier process finished are told apart, and left out of throughput and cost', () => {
  const earlier = { startedAt: 1_699_999_000_000 }
  const report = makeReport(makeSource([makeRun(1, 0, earlier), makeRun(1, 1), makeRun(1, 2)]))
  assert.equal([report.runs.finished, report.runs.recalled], [3, 1])
  assert.equal([report.runsPerSecond, report.engine.cpuMsPerRun], [0.8, 12])
})

test('a job of which nothing ran has a report without figures it does not have', () => {
  const report = makeReport({ ...makeSource([], { peakInFlight: 0, plannedRuns: 8 }), wallMs: 0 })
  assert.equal(
    [report.passRate, report.meanReward, report.runsPerSecond, report.leases.hitRate],
    [null, null, null, null],
  )
  assert.match(renderReport(report), '0 of 8 runs graded, 0 passed (–)')
})

test('long names and messages are cut to stay within 100 columns', () => {
  const long = 'a-name-that-goes-on-and-on-until-nobody-reads-it-any-more'
  const task = { env: 'e', id: long, args: {}, slug: long, columns: { [long]: long, bugs: 123 } }
  const error = { tag: long, message: `${long}\n${long}` }
  const text = renderReport(
    makeReport(
      makeSource([
        makeRun(1, 0),
        makeRun(2, 0, { task }),
        makeRun(3, 0, { task: { ...task, slug: `${long}2` } }),
        makeRun(3, 1, {
          task,
          error,
          outcome: 'infrastructure-error',
          stopReason: 'malformed-tool-call',
          reward: null,
        }),
      ]),
    ),
  )
  for (const line of text.split('\n')) assert.ok(line.length <= 100, `${line.length} columns: ${line}`)
})

test('the table stays within 100 columns and reads as it always did', () => {
  const text = renderReport(
    makeReport({ ...makeSource([...runs, ...failed]), chunks: { count: 2, runs: 12, bytes: 12_000 } }),
  )
  for (const line of text.split('\n')) assert.ok(line.length <= 100, `${line.length} columns: ${line}`)
  assert.fixture(text, EXPECTED)
  assert.match(renderReport(makeReport(makeSource(runs)), true), '\u001b[')
})

const EXPECTED = `calc (job-1, seed 7)
10 of 12 runs graded, 4 passed (40.0 %), mean reward 0.400
2.50 s, 4.8 runs/s

┌─────────┬──────┬──────┬────────┬────────┬───────────┬─────────────┬──────┐
│ task    │ bugs │ runs │ graded │ passed │ pass rate │ mean reward │  std │
├─────────┼──────┼──────┼────────┼────────┼───────────┼─────────────┼──────┤
│ fix-v2  │    4 │    3 │      3 │      1 │    33.3 % │        0.33 │ 0.47 │
│ fix-v3  │    5 │    3 │      3 │      1 │    33.3 % │        0.33 │ 0.47 │
│ fix-v4  │    4 │    3 │      1 │      1 │   100.0 % │        1.00 │ 0.00 │
│ fix-v10 │    4 │    3 │      3 │      1 │    33.3 % │        0.33 │ 0.47 │
└─────────┴──────┴──────┴────────┴────────┴───────────┴─────────────┴──────┘

┌──────┬───────┬──────┬────────┬────────┬───────────┬─────────────┐
│ bugs │ tasks │ runs │ graded │ passed │ pass rate │ mean reward │
├──────┼───────┼──────┼────────┼────────┼───────────┼─────────────┤
│ 4    │     3 │    9 │      7 │      3 │    42.9 % │        0.43 │
│ 5    │     1 │    3 │      3 │      1 │    33.3 % │        0.33 │
└──────┴───────┴──────┴────────┴────────┴───────────┴─────────────┘

groups: 4 of 4 ended: 4 complete
reward spread: 3 of 3 groups have one (100.0 %), mean std 0.471
chunks: 2 of whole groups, 12 runs, 0.01 MiB

┌────────┬──────────────────────┬───────────┬────────────────────────────────────────────┐
│ failed │ who, why             │ error     │ first example                              │
├────────┼──────────────────────┼───────────┼────────────────────────────────────────────┤
│      2 │ infrastructure-error │ host-lost │ fix-v4: the environment host ended with e… │
│        │ sandbox-lost         │           │ run-4-0                                    │
│      1 │ agent-error          │ –         │ fix-v4: –                                  │
│        │ deadline             │           │ run-4-2                                    │
└────────┴──────────────────────┴───────────┴────────────────────────────────────────────┘

┌──────────────┬──────┬─────────┬─────────┬─────────┐
│ stage        │ runs │     p50 │     p95 │     max │
├──────────────┼──────┼─────────┼─────────┼─────────┤
│ provisioning │   12 │ 2.00 ms │ 2.00 ms │ 2.00 ms │
│ starting     │   12 │ 5.00 ms │ 5.00 ms │ 5.00 ms │
│ agent        │   12 │  200 ms │  300 ms │  300 ms │
│ grading      │   12 │ 40.0 ms │ 40.0 ms │ 40.0 ms │
│ total        │   12 │  250 ms │  350 ms │  350 ms │
└──────────────┴──────┴─────────┴─────────┴─────────┘

leases: 7 hit, 3 cold, 0 claimed, 0 forked (hit rate 70.0 %)
engine: 24.0 ms CPU (2.00 ms a run), main-loop delay p99 3.50 ms
memory: peak 128 MiB, 32 MiB for each of 4 in flight
`

test.run()
