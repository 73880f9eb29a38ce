/** What docs/grafana/troupe.json asks for, and what docs/metrics.md says, is what is exposed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { EVENT_TYPES } from '../../../src/telemetry/events/job-event.ts'
import { METRICS } from '../../../src/telemetry/metrics/catalogue.ts'
import type { MetricDefinition } from '../../../src/telemetry/metrics/definition.ts'
import { repository } from '../../support/source-imports.ts'
import { suite } from '../../support/suite.ts'

const test = suite('board and page of the metrics')
const definitions: readonly MetricDefinition[] = Object.values(METRICS)
const page = readFileSync(join(repository, 'docs/metrics.md'), 'utf8')
const board = readFileSync(join(repository, 'docs/grafana/troupe.json'), 'utf8')
/** What Prometheus itself puts on a sample. */
const OF_PROMETHEUS = ['job', 'instance', 'le']

/** Samples are named for their metric; a histogram has three. */
const samples = new Map(
  definitions.flatMap(definition => {
    const endings = definition.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    return endings.map(ending => [`${definition.name}${ending}`, definition] as const)
  }),
)

/** Every value under one of these keys, wherever it is. */
function collect(value: unknown, key: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === 'string' ? [inner] : collect(inner, key),
  )
}

/** Names in a query that are no metric, and labels that no metric in it has. */
function findUnknown(query: string): readonly string[] {
  const named = query.match(/troupe_\w+/g) ?? []
  const labels = [
    ...[...query.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label),
    ...[...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map(label => label.trim())),
  ]
  const known = [...OF_PROMETHEUS, ...named.flatMap(name => samples.get(name)?.labels ?? [])]
  return [...named.filter(name => !samples.has(name)), ...labels.filter(label => !known.includes(label))]
}

const queries = [...collect(JSON.parse(board), 'expr'), ...collect(JSON.parse(board), 'query')]

test('every query names metrics and labels that exist', () => {
  assert.ok(queries.length > 30, 'the queries are found at all')
  assert.equal(queries.filter(query => query.includes('troupe_')).flatMap(findUnknown), [])
})

test('a metric, a sample of a histogram and a label that are not there are noticed', () => {
  assert.equal(findUnknown('sum by (phase) (rate(troupe_runs_total{environment="x"}[1m]))'), ['phase'])
  assert.equal(findUnknown('troupe_run_seconds{outcome="graded"}'), ['troupe_run_seconds', 'outcome'])
  assert.equal(findUnknown('troupe_gone_total'), ['troupe_gone_total'])
})

test('the board shows every metric there is', () => {
  const shown = new Set(queries.flatMap(query => query.match(/troupe_\w+/g) ?? []).map(name => samples.get(name)?.name))
  assert.equal(
    definitions.map(({ name }) => name).filter(name => !shown.has(name)),
    // How often, and not what: the figures of the board that rest on rates say it.
    ['troupe_engines', 'troupe_training_steps_total', 'troupe_training_chunks_total'],
  )
})

/** Rows of the table whose first column is called that, without what aligns them. */
function rowsOf(head: string): readonly (readonly string[])[] {
  const lines = page.slice(page.search(new RegExp(`^\\| ${head} `, 'm'))).split('\n')
  const end = lines.findIndex(line => !line.startsWith('|'))
  return lines.slice(2, end).map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
}

test('docs/metrics.md has a row for each metric: name, type, unit, labels, meaning', () => {
  assert.equal(
    rowsOf('metric'),
    definitions.map(({ name, type, unit, labels = [], help }) => [
      `\`${name}\``,
      type,
      unit,
      labels.map(label => `\`${label}\``).join(', '),
      help,
    ]),
  )
})

test('docs/metrics.md has a row for each type of event', () => {
  assert.equal(
    rowsOf('type').map(([type]) => type),
    EVENT_TYPES.map(type => `\`${type}\``),
  )
})

test.run()
