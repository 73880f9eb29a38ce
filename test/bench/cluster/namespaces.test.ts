/** Hosts of network namespaces: three machines and three servers on one, and what they are for. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import type { FaultsCase, FaultsFigures } from '../../../bench/cluster/faults-main.ts'
import { OWN_NETWORK, whyNoNamespaces } from '../../../bench/cluster/namespaces.ts'
import { measureBy } from '../../../bench/cluster/one.ts'
import { suite } from '../../support/suite.ts'

const test = suite('hosts of namespaces')
const run = promisify(execFile)

const place = new URL('../../../bench/cluster/namespaces.js', import.meta.url).href
const NETWORK = `
import { execFileSync } from 'node:child_process'
import { openNetwork } from '${place}'
const network = await openNetwork(['one', 'two'])
const [one, two] = network.hosts
const hears = () => {
  try {
    execFileSync(one.prefix[0], [...one.prefix.slice(1), 'bash', '-c', 'exec 3<>/dev/tcp/' + two.address + '/1'], { stdio: 'pipe', timeout: 2_000 })
  } catch (error) {
    // Nobody listens, and the other host says so.
    return String(error.stderr).includes('refused')
  }
}
const heard = [hears()]
await two.cut()
heard.push(hears())
await two.heal()
heard.push(hears())
await network.close()
console.log(JSON.stringify(heard))`

const problem = await whyNoNamespaces()

/** Where there can be none, that is told, and there is nothing more to see. */
const withNamespaces = (body: () => Promise<void>) => async () => {
  if (problem === undefined) await body()
  else assert.match(problem, /it wants root|missing: install/)
}

test('who may not make any is told what that wants', async () => {
  const look = `console.log(await (await import('${place}')).whyNoNamespaces())`
  const dropped = process.getuid?.() === 0 ? ['--bounding-set=-sys_admin,-net_admin'] : []
  const argv = [...dropped, process.execPath, '--input-type=module', '--eval', look]
  const { stdout } = await run('setpriv', argv)
  assert.match(stdout, /it wants root, CAP_NET_ADMIN and CAP_SYS_ADMIN/)
})

test(
  'hosts hear each other, but one whose cable is pulled is neither heard nor hears; nothing of this machine is touched',
  withNamespaces(async () => {
    const before = await networksOf()
    const [file, ...argv] = [...OWN_NETWORK, process.execPath, '--input-type=module', '--eval', NETWORK]
    const { stdout } = await run(file, argv)
    assert.equal(JSON.parse(stdout), [true, false, true])
    assert.equal(await networksOf(), before)
  }),
)

test(
  'a training goes on while a worker is killed, one cut off and the leading server killed, and its journal is that of one machine',
  withNamespaces(async () => {
    const given: FaultsCase = { steps: 3, group: 4, seed: 3, redeliverS: 8 }
    const figures = await measureBy<FaultsFigures>('faults-main', given, undefined, OWN_NETWORK)
    const { planned, runs, lost, different, left, faults, nextRollouts } = figures
    assert.equal({ runs, lost, different, left }, { runs: planned, lost: 0, different: [], left: [] })
    assert.is(planned, 192)
    assert.is(nextRollouts, 64, 'of a step, by the worker that was cut off')
    assert.equal(
      faults.map(({ what }) => what),
      ['worker-1 killed', 'worker-2 cut off', 'the leading NATS server killed', 'worker-2 back'],
    )
  }),
  { deadlineMs: 240_000 },
)

/** Links of this machine, and namespaces that have a name. */
async function networksOf(): Promise<readonly string[]> {
  const links = await run('ip', ['-brief', 'link'])
  const named = await run('ip', ['netns', 'list'])
  return [links.stdout, named.stdout]
}

test.run()
