/** `--runtime docker` on the command line, before anything is loaded or asked. */
import * as assert from 'uvu/assert'
import {
  type DockerPlan,
  type DockerRequest,
  planDocker,
  refuseDockerOptions,
} from '../../../src/cli/docker-options.ts'
import { suite } from '../../support/suite.ts'
import { failure } from '../../wire/support/failure.ts'

const test = suite('cli docker options')

const HOME = '/home/me/project'
const CALC = `${HOME}/environments/calc/env.ts`
const OWN = `${HOME}/Dockerfile.hud`
const BESIDE = `${HOME}/environments/calc/Dockerfile.hud`

const plan = (
  request: DockerRequest,
  files: readonly string[] = [OWN],
  environment: string | undefined = CALC,
): DockerPlan => planDocker(request, environment, { directory: HOME, isFile: path => files.includes(path) })

const tagOf = async (act: () => unknown) => (await failure((async () => act())())).tag
const serve = (path: string) => `cd /app && exec troupe serve ${path} --host 0.0.0.0 --port 8765`

test('without any option the Dockerfile of the directory is built, and serves the environment of the tasks to who has the token', () => {
  const { options, told } = plan({})
  assert.equal(options, { dockerfile: OWN, command: serve('environments/calc/env.ts'), withToken: true })
  assert.match(
    told,
    'docker: built from Dockerfile.hud; served by cd /app && exec troupe serve environments/calc/env.ts',
  )
  assert.match(told, /seccomp and AppArmor lifted/)
})

test('one beside the environment goes first, and serves as it says itself', () => {
  const { options, told } = plan({}, [OWN, BESIDE])
  assert.equal(options, { dockerfile: BESIDE })
  assert.match(told, "built from environments/calc/Dockerfile.hud; served by the image's own command")
  assert.equal(plan({}, [OWN], `${HOME}/env.ts`).options, { dockerfile: OWN })
})

test('--image is a Dockerfile where there is one of that path, and else the name of an image', () => {
  assert.equal(plan({ image: 'other/Dockerfile' }, [`${HOME}/other/Dockerfile`]).options, {
    dockerfile: `${HOME}/other/Dockerfile`,
  })
  const named = plan({ image: 'ghcr.io/us/calc:2' }, [])
  assert.equal(named.options, { image: 'ghcr.io/us/calc:2' })
  assert.is(named.told, "docker: image ghcr.io/us/calc:2; served by the image's own command")
})

test('what is served can be named: a file of the image, or a whole command', () => {
  assert.equal(plan({ image: 'calc', env: '/srv/env.ts' }).options, {
    image: 'calc',
    command: serve('/srv/env.ts'),
    withToken: true,
  })
  assert.equal(plan({ serveCommand: 'python -m env' }).options, { dockerfile: OWN, command: 'python -m env' })
})

test('--unsafe-no-isolation serves without bubblewrap and lifts nothing; --namespaces lifts for an image, too', async () => {
  const { options, told } = plan({ unsafeNoIsolation: true })
  assert.equal(options, {
    dockerfile: OWN,
    command: `${serve('environments/calc/env.ts')} --unsafe-no-isolation`,
    withToken: true,
    namespaces: false,
  })
  assert.not.match(told, /lifted/)
  assert.is(plan({ image: 'calc', namespaces: true }).options.namespaces, true)
  assert.is(await tagOf(() => plan({ image: 'calc', unsafeNoIsolation: true })), 'conflicting-options')
})

test('limits, network and address go on as they are', () => {
  const given = { memory: 2 ** 31, cpus: 1.5, pids: 64, network: 'rollouts', publishOn: '10.0.0.7' }
  const { memory, ...rest } = given
  assert.equal(plan({ image: 'calc', ...given }).options, { image: 'calc', memoryBytes: memory, ...rest })
})

test('where every task names its image nothing else has to', () => {
  const { options, told } = plan({ rowsNameImages: true }, [])
  assert.equal([options, told.split(';')[0]], [{}, 'docker: the images that the tasks name'])
  assert.is(plan({ rowsNameImages: true, image: 'calc' }, []).options.image, 'calc')
})

test('nothing to make containers from, an environment elsewhere, and options of another runtime are bad input', async () => {
  assert.is(await tagOf(() => plan({}, [])), 'no-image')
  assert.is(await tagOf(() => plan({}, [OWN], '/elsewhere/env.ts')), 'outside-of-image')
  assert.is(await tagOf(() => plan({ env: 'a.ts', serveCommand: 'b' })), 'conflicting-options')
  assert.is(await tagOf(() => refuseDockerOptions({ cpus: 1 }, 'local')), 'conflicting-options')
})

test.run()
