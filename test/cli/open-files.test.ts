import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { checkOpenFiles } from '../../src/cli/check-open-files.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('cli and the limit on open files')

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const plan = (sandboxes: number) => ({ sandboxes, providerPool: false })

test('more sandboxes than it can hold are refused, with the limit that would do and the number that fits', () => {
  assert.throws(
    () => checkOpenFiles(plan(512), { name: 'daytona' }, 1_024),
    (error: unknown) =>
      hasTag(error, 'too-few-open-files') &&
      /512 sandboxes .* 3456 open files.* may have 1024.*ulimit -n 3456.* 106 at most/.test(error.message),
  )
  checkOpenFiles(plan(106), { name: 'daytona' }, 1_024)
  checkOpenFiles(plan(128), { name: 'local' }, 1_024)
})

for (const command of ['eval', 'train', 'baseline'])
  test(
    `troupe ${command} finds out before anything is started`,
    () =>
      withFiles({}, async cwd => {
        const tasks = join(repository, 'environments/arith/tasks.ts')
        const agent = command === 'eval' ? [join(repository, 'environments/arith/adder.ts'), '--all'] : []
        const wide = ['--group', '4000', ...(command === 'train' ? ['--chunk', '4000'] : [])]
        const more = ['--max-concurrent', '4000', '--env', join(repository, 'environments/arith/env.ts')]
        const argv = [command, tasks, ...agent, ...wide, ...more]
        const child = spawn('sh', ['-c', 'ulimit -n 1024 && exec "$0" "$@"', process.execPath, program, ...argv], {
          cwd,
          stdio: ['ignore', 'ignore', 'pipe'],
          env: { ...process.env, NO_COLOR: '1' },
        })
        let stderr = ''
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          stderr += text
        })
        // One that does start something is not left behind.
        const tooLong = setTimeout(() => child.kill('SIGKILL'), 60_000)
        const [code] = await once(child, 'close')
        clearTimeout(tooLong)
        assert.match(stderr, /4000 sandboxes at once need about .* may have 1024/)
        assert.is(code, 2, stderr)
        assert.not.ok(existsSync(join(cwd, '.troupe')), 'no journal was begun')
      }),
    { deadlineMs: 90_000 },
  )

test.run()
