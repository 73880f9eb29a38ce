/**
 * A real engine, where DOCKER_HOST or the default socket has one and it has, or can pull, the image that TROUPE_TEST_IMAGE names (default: node:22-bookworm-slim, which
 * serves a few lines of its own). Where there is none it says so, and that is all it can say.
 */
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { hasTag } from '../../../src/errors.ts'
import { DockerRuntime } from '../../../src/runtimes/docker/docker-runtime.ts'
import { readEngineAddress } from '../../../src/runtimes/docker/engine/address.ts'
import { openEngine } from '../../../src/runtimes/docker/engine/engine.ts'
import { findLeftovers } from '../../../src/runtimes/docker/reap.ts'
import { toRequest } from '../../contracts/runtime.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { tellFigures } from '../../support/figures.ts'
import { suite } from '../../support/suite.ts'

const test = suite('docker, a real engine')

const IMAGE = process.env.TROUPE_TEST_IMAGE ?? 'node:22-bookworm-slim'

/** Answers `hello` and `bye` as any peer of the protocol may, with no more than the image has. */
const SERVER = `require('net').createServer(s => {
  let rest = ''
  s.on('error', () => {}).on('data', d => {
    const lines = (rest + d).split('\\n'); rest = lines.pop()
    for (const line of lines) {
      const { id, method } = JSON.parse(line)
      const result = method === 'hello' ? { session_id: 's', protocol: 'hud/1.0', env: { name: 'e', version: '1' }, bindings: [] } : {}
      if (id !== undefined) s.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
    }
  })
}).listen(8765, () => console.log('serving'))`

async function hasEngine(): Promise<boolean> {
  try {
    await openEngine(readEngineAddress(undefined, process.env), systemClock)
    return true
  } catch (error) {
    if (!hasTag(error, 'docker-no-engine')) throw error
    tellFigures(`docker: no real engine here, so only the stand-in was asked (${error.message})`)
    return false
  }
}

test(
  'sandboxes answer, die and are removed at a real engine as at the stand-in, where there is one',
  async () => {
    if (!(await hasEngine())) return
    const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
    const limits = { memoryBytes: 256 * 1024 ** 2, cpus: 1, pids: 64 }
    const runtime = new DockerRuntime({ image: IMAGE, command: `exec node -e ${quote(SERVER)}`, ...limits })
    const ending = new DockerRuntime({ image: IMAGE, command: 'echo no such luck >&2; exit 3', ...limits })
    try {
      const id = `test-${process.pid}`
      const sandbox = await runtime.provision(toRequest(id))
      assert.equal([sandbox.address.kind, (await runtime.list()).some(each => each.id === id)], ['tcp', true])
      await assertRejects(
        ending.provision(toRequest(`${id}-ending`)),
        'environment-not-serving',
        /exit code 3.*no such luck/s,
      )
      await sandbox.dispose({ sessionEnded: true })
      assert.is(
        (await runtime.list()).some(each => each.id.startsWith(id)),
        false,
      )
      const engine = await openEngine(readEngineAddress(undefined, process.env), systemClock)
      assert.is((await findLeftovers(engine)).filter(({ standing }) => standing === 'dead').length, 0)
    } finally {
      await Promise.all([runtime.close(), ending.close()])
    }
  },
  { deadlineMs: 200_000 },
)

test.run()
