import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('options of a cluster')

const ARITH = join(repository, 'environments/arith')
const EVAL = ['eval', ARITH, join(ARITH, 'adder.ts'), '--task-ids', '0', '--no-journal']
/** Nobody listens there: it is the service of a protocol that is not used any more. */
const NOWHERE = 'nats://127.0.0.1:1'

const CASES = [
  [[...EVAL, '--cluster', NOWHERE], /no NATS server answers at 127\.0\.0\.1:1/],
  [['worker', '--nats', NOWHERE], /no NATS server answers at 127\.0\.0\.1:1/],
  [['worker'], /required option '--nats <url>' not specified/],
  [[...EVAL, '--cluster', NOWHERE, '--threads', '2'], /--cluster and --threads do not go together/],
  [[...EVAL, '--cluster', NOWHERE, '--max-sandboxes', '2'], /--cluster and --max-sandboxes do not go together/],
  [[...EVAL, '--redeliver-after', '3'], /--cluster is missing: --redeliver-after/],
  [[...EVAL, '--cluster', NOWHERE, '--redeliver-after', '0.1'], /cluster\.redeliverMs is 100/],
] as const

test('what cannot be done is refused, with what is wrong', async () => {
  for (const [argv, says] of CASES) {
    const { exitCode, stderr } = await troupe(argv)
    assert.is(exitCode, 2, `${argv.join(' ')}: ${stderr}`)
    assert.match(stderr, says)
  }
})

test.run()
