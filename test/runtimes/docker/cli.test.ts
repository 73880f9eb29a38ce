/** `--runtime docker` from the command line: an image is built from what is sent, and whole rollouts run in containers of it. */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { type CliEnd, resultOf, troupe } from '../../support/cli.ts'
import { suite } from '../../support/suite.ts'
import { type StandIn, startStandIn } from './engine-stand-in.ts'
import { imageOf } from './stand-in-images.ts'

const test = suite('cli runtime docker')
const SLOW = { deadlineMs: 120_000 }
const ENVIRONMENT = fileURLToPath(new URL('../../../../environments/arith/env.ts', import.meta.url))
const ADDER = fileURLToPath(new URL('../../../../environments/arith/adder.ts', import.meta.url))
const TASKS = 4

let cwd = ''
let standIn: StandIn
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  await mkdir(join(cwd, 'arith'))
  await copyFile(ENVIRONMENT, join(cwd, 'arith', 'env.ts'))
  const rows = Array.from({ length: TASKS }, (_, a) => ({ env: 'arith', id: 'add', slug: `t${a}`, args: { a, b: 1 } }))
  await writeFile(join(cwd, 'arith', 'tasks.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  await writeFile(
    join(cwd, 'Dockerfile.hud'),
    'FROM node:22\nWORKDIR /app\nCOPY arith ./arith\nCMD ["troupe", "serve", "other.ts"]\n',
  )
  standIn = await startStandIn('no-fixture')
})
test.after(async () => {
  await standIn.close()
  await rm(cwd, { recursive: true, force: true })
})

const run = (line: string): Promise<CliEnd> =>
  troupe(['eval', 'arith', ADDER, '--all', '--runtime', 'docker', ...line.split(' ')], {
    cwd,
    variables: { DOCKER_HOST: standIn.host },
  })

test(
  'the Dockerfile of the directory is built, whole groups are graded in containers, and nothing is left',
  async () => {
    const { exitCode, stdout, stderr } = await run('--group 2 --max-concurrent 3 --no-journal --json')
    assert.is(exitCode, 0, stderr)
    assert.match(stderr, 'docker: built from Dockerfile.hud; served by cd /app && exec troupe serve arith/env.ts')
    assert.match(stderr, 'Step 3/4 : COPY arith ./arith')
    const report = resultOf(stdout)
    assert.equal([report.runs.planned, report.runs.graded], [TASKS * 2, TASKS * 2])
    assert.equal(standIn.sent(), ['Dockerfile.hud', 'arith/env.ts', 'arith/tasks.jsonl'])
    assert.is(standIn.containers.size, 0)
    const creates = standIn.requests.filter(each => each.startsWith('POST /containers/create'))
    assert.is(creates.length, TASKS * 2)
  },
  SLOW,
)

test(
  'containers are made ahead, too, and a container that fails is replaced',
  async () => {
    standIn.fault({
      on: /^POST \/containers\/create/,
      answer: { status: 500, message: 'no space left on device' },
      times: 2,
    })
    const { exitCode, stdout, stderr } = await run('--pool 2 --max-concurrent 2 --no-journal --json --quiet')
    assert.is(exitCode, 0, stderr)
    assert.is(resultOf(stdout).runs.graded, TASKS)
    assert.is(standIn.containers.size, 0)
  },
  SLOW,
)

test(
  'tasks that name their images need no Dockerfile and no pool’s leftovers: each gets a container as its row says',
  async () => {
    const place = await mkdtemp(join(tmpdir(), 'troupe-cli-rows-'))
    try {
      const serve = ['troupe', 'serve', ENVIRONMENT, '--host', '0.0.0.0', '--port', '8765', '--insecure']
      standIn.registry.set('rows:1', imageOf(...serve, '--unsafe-no-isolation'))
      standIn.registry.set('rows:2', imageOf(...serve))
      const rows = [1, 2].map(tag => ({
        env: 'arith',
        id: 'add',
        slug: `t${tag}`,
        args: { a: tag, b: 1 },
        runtime_config: { image: `rows:${tag}`, resources: { cpu: tag / 2 }, limits: { run_timeout_s: 600 } },
      }))
      await writeFile(join(place, 'rows.jsonl'), rows.map(row => JSON.stringify(row)).join('\n'))
      const from = standIn.requests.length
      const bodies: unknown[] = []
      standIn.onCreate(body => bodies.push([body.Image, body.HostConfig?.NanoCpus]))
      const argv = ['eval', 'rows.jsonl', ADDER, '--all', '--group', '2', '--runtime', 'docker', '--json']
      const variables = { DOCKER_HOST: standIn.host }
      const { exitCode, stdout, stderr } = await troupe([...argv, '--no-journal'], { cwd: place, variables })
      assert.is(exitCode, 0, stderr)
      assert.match(stderr, 'docker: the images that the tasks name')
      assert.is(resultOf(stdout).runs.graded, 4)
      const pulls = standIn.requests.slice(from).filter(each => each.startsWith('POST /images/create'))
      assert.is(pulls.length, 2)
      const wanted = [1, 2].flatMap(tag => {
        const made = [standIn.images.get(`rows:${tag}`)?.id, tag * 5e8]
        return [made, made]
      })
      assert.equal(bodies.map(String).sort(), wanted.map(String).sort())
      assert.is(standIn.containers.size, 0)
    } finally {
      await rm(place, { recursive: true, force: true })
    }
  },
  SLOW,
)

test(
  'what serves says why it does not, and no container is left',
  async () => {
    const { exitCode, stdout, stderr } = await run('--env arith/nowhere.ts --retries 0 --no-journal --json --quiet')
    assert.is(exitCode, 1, stderr)
    assert.match(resultOf(stdout).failures[0].example.message, /nowhere\.ts/)
    assert.is(standIn.containers.size, 0)
  },
  SLOW,
)

test('where there is no engine it says where it looked, and starts nothing', async () => {
  const variables = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }
  const { exitCode, stderr } = await troupe(['eval', 'arith', ADDER, '--runtime', 'docker', '--no-journal'], {
    cwd,
    variables,
  })
  assert.is(exitCode, 2)
  assert.match(stderr, /no Docker engine answers at unix:\/\/\/nowhere\/docker\.sock \(as DOCKER_HOST says\)/)
})

test('options of other runtimes are bad input', async () => {
  assert.match((await run('--snapshot x')).stderr, /--snapshot and --runtime docker/)
  const { exitCode, stderr } = await troupe(['eval', 'arith', ADDER, '--cpus', '2'], { cwd })
  assert.is(exitCode, 2)
  assert.match(stderr, /--cpus and --runtime local/)
})

test.run()
