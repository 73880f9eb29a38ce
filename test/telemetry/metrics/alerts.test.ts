/** docs/grafana/alerts.yml: that Prometheus would take it, that each alert can come, and that docs/operations.md says what to do. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { z } from 'zod'
import { createMetrics } from '../../../src/index.ts'
import type { Outcome } from '../../../src/rollout/run.ts'
import { publish } from '../../../src/telemetry/channels.ts'
import type { TrainingEvent } from '../../../src/training/loop/events.ts'
import { makeHeader } from '../../journal/fixtures.ts'
import { repository } from '../../support/source-imports.ts'
import { suite } from '../../support/suite.ts'
import { readSamples, type Sample } from './exposition.ts'
import { groupOf, jobId, jobOf, poolOf, stepOf, workerOf } from './scene.ts'

const test = suite('alerts')
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const rule = z.strictObject({
  alert: z.string().regex(/^Troupe[A-Za-z]+$/),
  expr: z.string().min(1),
  for: z
    .string()
    .regex(/^\d+[mh]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.strictObject({ summary: z.string().min(1) }),
})
const rules = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })) })
  .parse(parse(read('docs/grafana/alerts.yml')))
  .groups.flatMap(group => group.rules)

/** What a scrape shows of a job to which everything has happened that alerts are about. */
async function exposed(): Promise<readonly Sample[]> {
  const metrics = await createMetrics(jobOf(jobId, () => ({ pool: poolOf() })))
  const training = (event: TrainingEvent) => publish('trainingEvent', { jobId, event })
  try {
    for (const outcome of ['graded', 'infrastructure-error', 'environment-error'] satisfies Outcome[])
      publish('run', makeHeader({ outcome }))
    publish('group', groupOf({ end: { type: 'dropped', reason: 'member-lost' } }))
    publish('workers', { jobId, workers: 1, credits: 8, creditsFree: 8, each: [workerOf()] })
    publish('sandbox', { tag: 'sandbox-left', message: 'one may be left' })
    const call = {
      type: 'chunk-trained',
      step: 0,
      call: 0,
      consumed: [],
      dropped: [],
      startedAt: 0,
      tookMs: 1,
      datums: 0,
    } as const
    training({ ...call, loss: null, error: { tag: 'refused', message: 'no' } })
    training({ type: 'step-ended', record: stepOf() })
    training({ type: 'step-ended', record: stepOf({ step: 1, end: { type: 'skipped', reason: 'no-spread' } }) })
    return readSamples(await metrics.text())
  } finally {
    metrics.close()
  }
}

/** Selectors of a query, each as `name` and the labels that it asks for, which no sample answers; and labels to sum by that its samples have not. */
function findUnanswered(expr: string, samples: readonly Sample[]): readonly string[] {
  const selectors = [...expr.matchAll(/(troupe_\w+)(?:\{([^}]*)\})?/g)].map(([text, name = '', inner = '']) => {
    const wanted = [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value] as const)
    return { text, name, wanted }
  })
  const silent = selectors.filter(
    ({ name, wanted }) =>
      !samples.some(each => each.name === name && wanted.every(([label, value]) => each.labels[label] === value)),
  )
  const summed = [...expr.matchAll(/(?:by|without|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const known = [
    'job',
    'instance',
    ...samples.filter(each => expr.includes(each.name)).flatMap(each => Object.keys(each.labels)),
  ]
  return [...silent.map(({ text }) => text), ...summed.filter(label => !known.includes(label))]
}

/** Where a query is no PromQL. */
function findMistakes(expr: string): readonly string[] {
  const mistakes: string[] = []
  parser.parse(expr).iterate({
    enter: node => {
      if (node.type.isError) mistakes.push(`at ${node.from}: ${expr.slice(node.from, node.from + 20)}`)
    },
  })
  return mistakes
}

test('every rule is PromQL, and what it asks for is exposed', async () => {
  assert.ok(rules.length > 12, 'the rules are found at all')
  const samples = await exposed()
  for (const { alert, expr } of rules) {
    assert.equal(findMistakes(expr), [], alert)
    assert.match(expr, /troupe_/, alert)
    assert.equal(findUnanswered(expr, samples), [], alert)
  }
})

test('a query that is none, a value that no label has and a metric that is not there are noticed', async () => {
  const samples = await exposed()
  assert.is(findMistakes('rate(troupe_runs_total[5m]) > ').length > 0, true)
  assert.equal(findUnanswered('troupe_runs_total{outcome="infra"}', samples), ['troupe_runs_total{outcome="infra"}'])
  assert.equal(findUnanswered('sum by (phase) (troupe_gone_total)', samples), ['troupe_gone_total', 'phase'])
})

test('each has a name of its own, and docs/operations.md tells of each and of no other', () => {
  const names = rules.map(({ alert }) => alert)
  assert.equal([...new Set(names)], names)
  const told = [...read('docs/operations.md').matchAll(/^\| `(Troupe\w+)` /gm)].map(([, name = '']) => name)
  assert.equal(told, names)
})

test.run()
