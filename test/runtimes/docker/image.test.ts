/** Where the image comes from: found, pulled, or built from what is sent. */
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { containerOf, type DockerScene, withScene } from './docker-scene.ts'
import { imageOf } from './stand-in-images.ts'

const test = suite('docker image')

const DOCKERFILE = 'FROM scratch\nWORKDIR /app\nCOPY env ./env\nCMD ["environment-host"]\n'

async function write({ host }: DockerScene, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(host.directory, 'My Calc')
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return directory
}

test('an image that is there is used, and nothing is pulled', () =>
  withScene(async ({ runtime, standIn }) => {
    await runtime.preflight()
    assert.equal(
      standIn.requests.map(each => each.split('?')[0]),
      ['GET /version', 'GET /containers/json', 'GET /images/environment/json'],
    )
  }))

test('one that is not there is pulled, told line by line without how far each layer is', () =>
  withScene(async scene => {
    const name = 'registry.example:5000/us/calc'
    scene.standIn.registry.set(`${name}:latest`, imageOf('environment-host'))
    const lines: string[] = []
    const runtime = scene.makeRuntime({ image: name, onImageLog: line => lines.push(line) })
    await runtime.preflight()
    assert.equal(lines, ['latest: Pulling from library', `Downloaded ${name}:latest`])
    await (await runtime.provision(toRequest('one'))).dispose({ sessionEnded: false })
    await runtime.close()
  }))

test('one that cannot be pulled is told with what the engine says, and a later try may go well', () =>
  withScene(async scene => {
    const runtime = scene.makeRuntime({ image: 'nobody/nothing:2' })
    await assertRejects(runtime.preflight(), 'docker-pull-failed', /pull access denied.*docker pull nobody\/nothing:2/)
    scene.standIn.fault({ on: /images\/create/, answer: { status: 500, message: 'registry timed out' } })
    await assertRejects(runtime.preflight(), 'docker-pull-failed', /registry timed out/)
    scene.standIn.fault({ on: /images\/create/, answer: 'cut' })
    await assertRejects(runtime.preflight(), 'docker-engine-lost', /pull the image/)
    scene.standIn.registry.set('nobody/nothing:2', imageOf('environment-host'))
    await runtime.preflight()
    await runtime.close()
  }))

test('a Dockerfile is sent with what it copies and nothing else, and what is built is used', () =>
  withScene(async scene => {
    const directory = await write(scene, {
      'Dockerfile.hud': DOCKERFILE,
      'env/env.ts': 'export {}',
      'env/@types.ts': 'export {}',
      'env/__pycache__/x.pyc': '',
      'secrets.txt': 'not to be sent',
      '.dockerignore': '# what is made\n**/__pycache__\n',
    })
    const lines: string[] = []
    const runtime = scene.makeRuntime({
      dockerfile: join(directory, 'Dockerfile.hud'),
      onImageLog: line => lines.push(line),
    })
    await runtime.preflight()
    assert.equal(scene.standIn.sent(), ['Dockerfile.hud', 'env/@types.ts', 'env/env.ts'])
    assert.equal(lines[0], 'Step 1/4 : FROM scratch')
    const built = scene.standIn.images.get('troupe-my-calc:latest')
    assert.equal(built?.labels, { 'troupe.built': 'true' })
    const sandbox = await runtime.provision(toRequest('one'))
    assert.is(containerOf(scene).body.Image, built?.id)
    await sandbox.dispose({ sessionEnded: false })
    await runtime.close()
  }))

test('what runs is the image that was built, even when its name has come to mean another', () =>
  withScene(async scene => {
    const directory = await write(scene, { 'Dockerfile.hud': DOCKERFILE, 'env/env.ts': '1' })
    const dockerfile = join(directory, 'Dockerfile.hud')
    const [first, second] = [scene.makeRuntime({ dockerfile }), scene.makeRuntime({ dockerfile })]
    await first.preflight()
    const id = scene.standIn.images.get('troupe-my-calc:latest')?.id
    await appendFile(join(directory, 'env', 'env.ts'), '2')
    await second.preflight()
    assert.is.not(scene.standIn.images.get('troupe-my-calc:latest')?.id, id)
    scene.standIn.images.set('kept', { ...imageOf('environment-host'), id: id ?? '' })
    await first.provision(toRequest('one'))
    assert.is(containerOf(scene).body.Image, id)
    await Promise.all([first.close(), second.close()])
  }))

test('the whole folder is sent where patterns are copied, less what is ignored, and links as links', () =>
  withScene(async scene => {
    const directory = await write(scene, {
      Dockerfile: 'FROM scratch\nCOPY *.json ./\nCMD environment-host\n',
      'a.json': '{}',
      'keep/deep/b.json': '{}',
      'keep/c.txt': '',
      '.dockerignore': 'keep\n!keep/deep\n*.log\n',
      'x.log': '',
    })
    await symlink('a.json', join(directory, 'link.json'))
    const runtime = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile') })
    await runtime.preflight()
    assert.equal(scene.standIn.sent(), [
      '.dockerignore',
      'Dockerfile',
      'a.json',
      'keep/deep/b.json',
      'link.json -> a.json',
    ])
    await runtime.close()
  }))

test('a link that is copied is sent with what it leads to; ignore rules that cannot be read stop everything', () =>
  withScene(async scene => {
    const directory = await write(scene, {
      'Dockerfile.hud': 'FROM scratch\nCOPY env ./env\nCMD environment-host\n',
      'real/env.ts': '',
    })
    await symlink('real', join(directory, 'env'))
    const runtime = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud') })
    await runtime.preflight()
    assert.equal(scene.standIn.sent(), ['Dockerfile.hud', 'env -> real', 'real/env.ts'])
    await runtime.close()
    await mkdir(join(directory, '.dockerignore'))
    const stopped = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud') })
    await assertRejects(stopped.preflight(), 'docker-ignore-not-read', /\.dockerignore/)
    await stopped.close()
  }))

test('a build that fails is told with the end of its log; one that wants BuildKit with what to do', () =>
  withScene(async scene => {
    const fails = async (text: string, says: RegExp) => {
      const directory = await write(scene, { 'Dockerfile.hud': text })
      const runtime = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud') })
      await assertRejects(runtime.preflight(), 'docker-build-failed', says)
      await runtime.close()
    }
    await fails('FROM scratch\nRUN fail\n', /RUN returned 1.*Step 2\/2.*about to fail.*docker build says more/s)
    await fails('FROM scratch\nCOPY nowhere ./\n', /file not found in build context: stat nowhere/)
    await fails(
      'FROM scratch\nRUN --mount=type=cache true\n',
      /BuildKit.*build it with docker build, and name the image/s,
    )
    scene.standIn.fault({ on: /POST \/build/, answer: { status: 400, message: 'dockerfile parse error' } })
    await fails('FROM scratch\n', /dockerfile parse error/)
  }))

test('a Dockerfile that is missing, is none, or lies outside of its context is told before anything is sent', () =>
  withScene(async scene => {
    const directory = await write(scene, { 'Dockerfile.hud': 'COPY a b\n' })
    const none = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile') })
    await assertRejects(none.preflight(), 'dockerfile-missing', /no Dockerfile at/)
    await none.close()
    const bad = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud') })
    await assertRejects(bad.preflight(), 'dockerfile-invalid', /before the first FROM/)
    await bad.close()
    const context = join(directory, 'elsewhere')
    await assertRejects(
      (async () => scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud'), context }))(),
      'docker-bad-option',
      /not in its build context/,
    )
    assert.is(scene.standIn.requests.filter(each => each.includes('build')).length, 0)
  }))

test('closing calls off a build', () =>
  withScene(async scene => {
    const directory = await write(scene, { 'Dockerfile.hud': DOCKERFILE, 'env/env.ts': '' })
    const runtime = scene.makeRuntime({ dockerfile: join(directory, 'Dockerfile.hud') })
    scene.standIn.fault({ on: /POST \/build/, answer: 'mute' })
    const opening = runtime.preflight()
    while (!scene.standIn.requests.some(each => each.includes('/build'))) await new Promise(setImmediate)
    await Promise.all([runtime.close(), assertRejects(opening, 'runtime-closed')])
  }))

test.run()
