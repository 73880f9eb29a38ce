import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { parseTaskRows } from '../../src/taskset/parse-task-rows.ts'
import { keyOfRuntimeConfig, mergeRuntimeConfig } from '../../src/taskset/runtime-config.ts'
import { sharesSandbox, toPlacedTasks } from '../../src/taskset/task.ts'
import { suite } from '../support/suite.ts'

const test = suite('taskset: what a row asks of its sandbox')

const parse = (row: Readonly<Record<string, unknown>>) =>
  parseTaskRows([{ value: { env: 'e', id: 't', ...row }, place: 'tasks.jsonl:3' }])[0]

function complaintsOf(row: Readonly<Record<string, unknown>>): string {
  try {
    parse(row)
  } catch (error) {
    assert.ok(hasTag(error, 'bad-task-rows'), String(error))
    return String(error)
  }
  throw new Error('nothing was complained of')
}

test('every field of HUD’s is read, and what is null is not there', () => {
  const config = {
    image: 'ghcr.io/us/calc:2',
    resources: {
      cpu: 0.5,
      memory_mb: 512,
      storage_mb: 1024,
      gpu: { type: ['H100', 'H200'], count: 2 },
      os: 'linux',
      tpu: { type: 'v5e', topology: '2x4' },
    },
    limits: { startup_timeout_s: 60, run_timeout_s: 600 },
  }
  assert.equal(parse({ runtime_config: config })?.runtime_config, config)
  const sparse = { image: null, compose: null, resources: { cpu: 1, gpu: {} }, limits: null }
  assert.equal(parse({ runtime_config: sparse })?.runtime_config, { resources: { cpu: 1, gpu: { count: 1 } } })
  const compose = { document: { services: { main: {} } }, root: { compose_path: 'compose.yaml' } }
  assert.equal(parse({ runtime_config: { compose } })?.runtime_config, { compose })
  assert.equal(parse({ runtime_config: null })?.runtime_config, undefined)
})

test('what nobody knows, and what cannot be, is told with the row and the place in it', () => {
  for (const [config, words] of [
    [
      { img: 'x' },
      /tasks\.jsonl:3: "runtime_config\.img" is no field of runtime_config \(image, compose, resources, limits\)/,
    ],
    [{ resources: { memory: 1 } }, /"runtime_config\.resources\.memory" is no field .*memory_mb/],
    [{ resources: { cpu: 0 } }, /"runtime_config\.resources\.cpu" must be a number above 0/],
    [{ resources: { memory_mb: 1.5 } }, /memory_mb" must be a whole number above 0/],
    [{ resources: { gpu: { count: 0 } } }, /gpu\.count" must be a whole number/],
    [{ resources: { gpu: { type: [] } } }, /gpu\.type" is an empty list/],
    [{ resources: { tpu: { type: 'v5e', topology: '2' } } }, /topology" must be numbers with an x/],
    [{ limits: { run_timeout_s: '60' } }, /run_timeout_s" must be a whole number/],
    [{ limits: { run_timeout_ms: 5 } }, /"runtime_config\.limits\.run_timeout_ms" is no field/],
    [{ image: 'a', compose: {} }, /has an image and a Compose project/],
    ['docker', /"runtime_config" must be an object/],
  ] as const)
    assert.match(complaintsOf({ runtime_config: config }), words)
  const verifier = { env: 'e', id: 'v', runtime_config: { img: 'x' } }
  assert.match(complaintsOf({ verifier }), /"verifier\.runtime_config\.img" is no field/)
  assert.match(complaintsOf({ agent_config: { timeout_seconds: -1 } }), /"agent_config\.timeout_seconds" must be/)
  assert.match(complaintsOf({ verifier: { env: 'e', id: 'v', verifier: {} } }), /no verifier of its own/)
})

test('a row’s fields stand over the runtime’s, and an image in place of a Compose project', () => {
  const base = { image: 'base', limits: { run_timeout_s: 60 } }
  assert.equal(mergeRuntimeConfig(base, undefined), base)
  assert.equal(mergeRuntimeConfig(base, { resources: { cpu: 1 } }), { ...base, resources: { cpu: 1 } })
  assert.equal(mergeRuntimeConfig(base, { image: 'own' }), { image: 'own', limits: { run_timeout_s: 60 } })
  assert.equal(mergeRuntimeConfig(base, { compose: {} }), { compose: {}, limits: { run_timeout_s: 60 } })
  assert.equal(mergeRuntimeConfig({ compose: {} }, { image: 'own' }), { image: 'own' })
})

test('the same configuration has the same key, however it is written', () => {
  const key = keyOfRuntimeConfig({ image: 'a', resources: { cpu: 1, memory_mb: 2 } })
  assert.is(keyOfRuntimeConfig({ resources: { memory_mb: 2, cpu: 1 }, image: 'a' }), key)
  assert.is.not(keyOfRuntimeConfig({ image: 'a', resources: { cpu: 2, memory_mb: 2 } }), key)
})

test('a verifier shares its task’s sandbox where it names the same environment and asks for none of its own', () => {
  const task = { env: 'a', id: 't', args: {}, slug: 't' }
  const shared = { ...task, verifier: task }
  const other = { ...task, verifier: { ...task, env: 'b' } }
  const own = { ...task, verifier: { ...task, runtime_config: {} } }
  assert.equal(
    [shared, other, own].map(each => sharesSandbox(each, each.verifier)),
    [true, false, false],
  )
  assert.equal(toPlacedTasks([shared, other, own]), [shared, other, other.verifier, own, own.verifier])
})

test.run()
