import * as assert from 'uvu/assert'
import { type DaytonaPlan, planDaytona } from '../../src/cli/daytona-options.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli daytona options')

type Options = Parameters<typeof planDaytona>[0]
const CALC = '/home/me/project/environments/calc/env.ts'

function plan(options: Options, environment: string | undefined = CALC, hasImage = true): DaytonaPlan {
  return planDaytona(options, environment, {
    directory: '/home/me/project',
    exists: path => hasImage && path === '/home/me/project/Dockerfile.hud',
  })
}

function tagOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return error instanceof Error && 'tag' in error ? String(error.tag) : String(error)
  }
  return 'nothing thrown'
}

const serve = (path: string) => `cd /app && exec troupe serve ${path} --host 0.0.0.0 --port 8765 --insecure`

test('without any option the image of the directory serves the environment of the tasks', () => {
  const { snapshot, options, told } = plan({})
  assert.is(snapshot, 'troupe-calc')
  assert.equal(options, { image: '/home/me/project/Dockerfile.hud', command: serve('environments/calc/env.ts') })
  assert.match(told, 'snapshot troupe-calc, built from Dockerfile.hud')
  assert.match(told, 'served by cd /app && exec troupe serve environments/calc/env.ts')
})

test('another environment of the same image is another snapshot and another command', () => {
  const { snapshot, options } = plan({}, '/home/me/project/environments/My Chess/env.ts')
  assert.is(snapshot, 'troupe-my-chess')
  assert.is(options.command, serve("'environments/My Chess/env.ts'"))
  assert.is(plan({}, '/home/me/project/chess.ts').snapshot, 'troupe-chess')
})

test('--env names the file in the image, by the path it has here or there', () => {
  for (const env of [
    'environments/arith/env.ts',
    './environments/arith/env.ts',
    '/home/me/project/environments/arith/env.ts',
  ])
    assert.is(plan({ env }).options.command, serve('environments/arith/env.ts'), env)
  assert.is(plan({ env: 'environments/arith/env.ts' }).snapshot, 'troupe-arith')
  assert.is(plan({ env: '/app/other/env.ts', image: 'Dockerfile.other' }).options.command, serve('/app/other/env.ts'))
})

test('--snapshot alone is one that is there: nothing is built, and it serves what is served here', () => {
  const { snapshot, options } = plan({ snapshot: 'mine', region: 'eu', transport: 'ssh', autoStop: 30 }, CALC, false)
  assert.is(snapshot, 'mine')
  assert.equal(options, {
    region: 'eu',
    transport: 'ssh',
    autoStopMinutes: 30,
    command: serve('environments/calc/env.ts'),
  })
  assert.is(plan({ snapshot: 'mine', serveCommand: 'hud serve' }).options.command, 'hud serve')
})

test('an image of its own serves by its own command, unless one is named', () => {
  assert.equal(plan({ image: 'docker/Dockerfile' }).options, { image: '/home/me/project/docker/Dockerfile' })
  assert.is(plan({ image: 'docker/Dockerfile', serveCommand: 'hud serve' }).options.command, 'hud serve')
  assert.is(plan({ image: './Dockerfile.hud' }).options.command, serve('environments/calc/env.ts'))
})

test('tasks without an environment beside them are served by the image’s own command', () => {
  const told = planDaytona({}, undefined, { directory: '/home/me/project', exists: () => true })
  assert.is(told.options.command, undefined)
  assert.is(told.snapshot, 'troupe-project')
})

test('what cannot be is refused before anything is asked of the provider', () => {
  assert.is(
    tagOf(() => plan({}, CALC, false)),
    'no-snapshot',
  )
  assert.is(
    tagOf(() => plan({}, '/elsewhere/env.ts')),
    'outside-of-image',
  )
  assert.is(
    tagOf(() => planDaytona({ snapshot: 'mine' }, undefined, { directory: '/home/me/project', exists: () => true })),
    'missing-option',
  )
  assert.is(
    tagOf(() => plan({ env: 'env.ts', serveCommand: 'hud serve' })),
    'conflicting-options',
  )
})

test.run()
