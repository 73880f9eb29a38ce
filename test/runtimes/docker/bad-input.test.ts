/** What a person may get wrong, and what they are told. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { portOf } from '../../../src/emulator/gateway.ts'
import { DockerRuntime } from '../../../src/runtimes/docker/docker-runtime.ts'
import type { DockerRuntimeOptions } from '../../../src/runtimes/docker/options.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'
import { failure } from '../../wire/support/failure.ts'
import { withScene } from './docker-scene.ts'

const test = suite('docker bad input')

const OPTIONS: readonly [options: DockerRuntimeOptions, says: RegExp][] = [
  [{ image: '' }, /image/],
  [{ image: 'two words' }, /image/],
  [{ image: 'x', dockerfile: 'Dockerfile' }, /image.*left out beside `dockerfile`/],
  [{ port: 0 }, /port/],
  [{ port: 70_000 }, /port/],
  [{ memoryBytes: 1_000 }, /memoryBytes.*6291456 at least/],
  [{ memoryBytes: 1.5e7 + 0.5 }, /memoryBytes/],
  [{ cpus: 0 }, /cpus/],
  [{ cpus: Number.NaN }, /cpus/],
  [{ pids: 0 }, /pids/],
  [{ network: 'none' }, /network.*publishes ports/],
  [{ network: 'host' }, /network/],
  [{ network: 'container:abc' }, /network/],
  [{ command: ' ' }, /command/],
  [{ startDeadlineMs: 0 }, /startDeadlineMs/],
  [{ variables: { 'A=B': '' } }, /variables.*letters, digits and _/],
]

for (const [options, says] of OPTIONS)
  test(`${JSON.stringify(options)} is refused when it is written`, async () => {
    const error = await failure((async () => new DockerRuntime(options))())
    assert.is(error.tag, 'docker-bad-option')
    assert.match(error.message, says)
  })

test('where there is no engine, the socket that was looked at and DOCKER_HOST are named before anything is started', () =>
  withFiles({ file: '' }, async directory => {
    const socket = `unix://${join(directory, 'docker.sock')}`
    const runtime = new DockerRuntime({ host: socket, image: 'x' })
    const error = await assertRejects(runtime.preflight(), 'docker-no-engine', /there is no such socket/)
    assert.match(error.message, new RegExp(`${socket} \\(as the option .host. says\\).*DOCKER_HOST=unix:///`))
    await assertRejects(runtime.provision(toRequest('one')), 'docker-no-engine')
    await runtime.close()
    const refused = new DockerRuntime({ host: `unix://${join(directory, 'file')}`, image: 'x' })
    await assertRejects(refused.preflight(), 'docker-no-engine', /nobody listens there/)
    await refused.close()
  }))

test('DOCKER_HOST is where it is looked for, and said to be who said so', () =>
  withFiles({}, async directory => {
    const { DOCKER_HOST: before } = process.env
    process.env.DOCKER_HOST = `unix://${join(directory, 'no.sock')}`
    try {
      const runtime = new DockerRuntime({ image: 'x' })
      await assertRejects(runtime.preflight(), 'docker-no-engine', /no\.sock \(as DOCKER_HOST says\)/)
      await runtime.close()
    } finally {
      if (before === undefined) delete process.env.DOCKER_HOST
      else process.env.DOCKER_HOST = before
    }
  }))

test('an engine over tcp is asked there; what is none, and one for Windows, are refused', () =>
  withScene(async scene => {
    let answer: unknown = { hello: 'world' }
    const server = createServer((_, response) => response.end(JSON.stringify(answer)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const host = `tcp://127.0.0.1:${portOf(server)}`
    const refuses = async (tag: string, says: RegExp) => {
      const runtime = new DockerRuntime({ host, image: 'x' })
      await assertRejects(runtime.preflight(), tag, says)
      await runtime.close()
    }
    await refuses('docker-not-an-engine', /127\.0\.0\.1/)
    answer = { ApiVersion: '1.47', Os: 'windows' }
    await refuses('docker-windows-engine', /Linux containers/)
    await new Promise(resolve => server.close(resolve))
    await refuses('docker-no-engine', /nobody listens there/)
    scene.standIn.version.Os = 'windows'
    await assertRejects(scene.runtime.preflight(), 'docker-windows-engine')
  }))

test('an engine on another machine wants to be told where its ports are published', async () => {
  const runtime = new DockerRuntime({ host: 'tcp://build-7.invalid:2375', image: 'x' })
  await assertRejects(runtime.preflight(), 'docker-engine-elsewhere', /publishOn.*--publish-on/)
  await runtime.close()
})

test('certificates that are not there are named', () =>
  withFiles({ 'ca.pem': '' }, async directory => {
    process.env.DOCKER_TLS_VERIFY = '1'
    process.env.DOCKER_CERT_PATH = directory
    try {
      const runtime = new DockerRuntime({ host: 'tcp://127.0.0.1:1', image: 'x' })
      await assertRejects(runtime.preflight(), 'docker-no-certificates', /DOCKER_CERT_PATH/)
      await runtime.close()
    } finally {
      delete process.env.DOCKER_TLS_VERIFY
      delete process.env.DOCKER_CERT_PATH
    }
  }))

test.run()
