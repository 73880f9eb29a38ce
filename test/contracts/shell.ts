import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Shell } from '../../src/wire/shell.ts'
import { suite } from '../support/suite.ts'

/** A shell to test, in a fresh workspace. */
export interface ShellUnderTest {
  readonly shell: Shell
  /** Closes the shell, its session and what serves it. */
  close(): Promise<void>
}

/** What every `Shell` does, `where` it is reached. The call is a suite of its own: it ends with `.run()`. */
export function shellContract(protocol: Shell['protocol'], open: () => Promise<ShellUnderTest>, where = ''): void {
  const test = suite(`shell over ${protocol}${where}`)
  const withShell = (body: (shell: Shell) => Promise<void>) => async () => {
    const { shell, close } = await open()
    try {
      await body(shell)
    } finally {
      await close()
    }
  }

  test(
    'stdout, stderr and the exit status come back apart',
    withShell(async shell => {
      assert.is(shell.protocol, protocol)
      const result = await shell.exec('printf out; printf err >&2; exit 3')
      assert.equal(result, { exitCode: 3, stdout: 'out', stderr: 'err' })
      assert.is((await shell.exec('kill -TERM $$')).exitCode, 143)
    }),
  )

  test(
    'commands start in cwd, under bash',
    withShell(async shell => {
      assert.is((await shell.exec('pwd; [[ -n $BASH_VERSION ]]')).stdout, `${shell.cwd}\n`)
    }),
  )

  test(
    'stdin reaches the command, whatever its size, and its end does too',
    withShell(async shell => {
      assert.is((await shell.exec('cat', { stdin: 'grüße' })).stdout, 'grüße')
      assert.is((await shell.exec('wc -c')).stdout.trim(), '0')
      const big = Buffer.alloc(3_000_000, 'x')
      assert.is((await shell.exec('wc -c', { stdin: big })).stdout.trim(), '3000000')
    }),
  )

  test(
    'a command that does not read its input still ends',
    withShell(async shell => {
      assert.is((await shell.exec('exit 7', { stdin: Buffer.alloc(2_000_000) })).exitCode, 7)
    }),
  )

  test(
    'files are written and read back, directories made on the way, odd names kept',
    withShell(async shell => {
      await shell.writeFile('a/b/it\'s "odd".txt', 'one\ntwo\n')
      assert.is(await shell.readFile('a/b/it\'s "odd".txt'), 'one\ntwo\n')
      await shell.writeFile('a/b/it\'s "odd".txt', 'x')
      assert.is(await shell.readFile(`${shell.cwd}/a/b/it's "odd".txt`), 'x')
      const big = 'line\n'.repeat(200_000)
      await shell.writeFile('big', big)
      assert.is(await shell.readFile('big'), big)
      await shell.writeFile('empty', new Uint8Array())
      assert.is(await shell.readFile('empty'), '')
      assert.is((await shell.exec('echo more >> empty && cat empty')).stdout, 'more\n')
    }),
  )

  test(
    'a file that is not there rejects with file-not-read and names the path',
    withShell(async shell => {
      const error = await rejection(shell.readFile('nowhere/missing.txt'))
      assert.ok(hasTag(error, 'file-not-read'))
      assert.match(String(error), 'nowhere/missing.txt')
      assert.ok(hasTag(await rejection(shell.readFile('/etc/shadow')), 'file-not-read'))
    }),
  )

  test(
    'output over the bound is dropped, and the text says so',
    withShell(async shell => {
      const result = await shell.exec('head -c 300000 /dev/zero | tr "\\0" x; printf e >&2', { maxOutputBytes: 1_000 })
      assert.is(result.exitCode, 0)
      assert.is(result.stdout, `${'x'.repeat(1_000)}\n[299000 more bytes were dropped]\n`)
      assert.is(result.stderr, 'e')
    }),
  )

  test(
    'a command over its time limit is killed and rejects with command-timeout',
    withShell(async shell => {
      const error = await rejection(shell.exec('echo $$ > pid; sleep 60; touch late', { timeoutMs: 300 }))
      assert.ok(hasTag(error, 'command-timeout'), String(error))
      assert.is((await shell.exec('test -s pid; ls late')).stdout, '')
    }),
  )

  test(
    'an abort rejects with the signal’s reason and leaves the shell usable',
    withShell(async shell => {
      const controller = new AbortController()
      const pending = rejection(shell.exec('sleep 60', { signal: controller.signal }))
      controller.abort(new Error('enough'))
      assert.is(((await pending) as Error).message, 'enough')
      assert.is(((await rejection(shell.exec('echo no', { signal: controller.signal }))) as Error).message, 'enough')
      assert.is((await shell.exec('echo still here')).stdout, 'still here\n')
    }),
  )

  test(
    'commands run at once do not mix',
    withShell(async shell => {
      const numbers = Array.from({ length: 12 }, (_, index) => index)
      const results = await Promise.all(numbers.map(n => shell.exec(`cat; echo ${n}; exit ${n}`, { stdin: `in${n} ` })))
      assert.equal(
        results.map(({ exitCode, stdout }) => `${exitCode} ${stdout}`),
        numbers.map(n => `${n} in${n} ${n}\n`),
      )
    }),
  )

  test(
    'a closed shell rejects, and closing twice is fine',
    withShell(async shell => {
      const pending = rejection(shell.exec('sleep 60'))
      await shell.close()
      await shell.close()
      assert.ok((await pending) instanceof Error)
      assert.ok(hasTag(await rejection(shell.exec('true')), 'shell-closed'))
    }),
  )

  test.run()
}

/** What a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not reject')
}
