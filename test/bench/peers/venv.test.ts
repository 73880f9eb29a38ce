import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { prepareHud } from '../../../bench/peers/hud/venv.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'
import { failure } from '../../wire/support/failure.ts'

const test = suite("the Python with HUD's SDK")
const never = new AbortController().signal

/** Stand-ins for Python, by name, and nothing else on the PATH; the environment would be made beside them. */
function withPrograms(
  programs: Readonly<Record<string, string>>,
  body: (prepare: () => ReturnType<typeof prepareHud>, directory: string) => Promise<void>,
): Promise<void> {
  return withFiles({}, async directory => {
    const { PATH } = process.env
    for (const [name, script] of Object.entries(programs)) {
      await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`)
      await chmod(join(directory, name), 0o755)
    }
    process.env.PATH = directory
    try {
      await body(() => prepareHud(never, () => {}, join(directory, 'venv')), directory)
    } finally {
      process.env.PATH = PATH
    }
  })
}

/** Answers with its version, and to `-m venv` with what is given. */
const python = (version: string, venv: string) => `if [ "$1" = -c ]; then echo ${version}; else ${venv}; fi`

test('without a Python the error says which are taken', () =>
  withPrograms({}, async prepare => {
    const error = await failure(prepare())
    assert.is(error.tag, 'hud-missing')
    assert.match(error.message, 'none of python3, python3.12, python3.11 is on the PATH. It wants Python 3.11 or later')
  }))

test('Pythons that are too old or too new are named with their versions', () =>
  withPrograms({ python3: python('3 9', ':'), 'python3.12': python('3 13', ':') }, async prepare => {
    const { message } = await failure(prepare())
    assert.match(message, 'python3 is 3.9, python3.12 is 3.13. It wants Python 3.11 or later, before 3.13: install')
  }))

test('the first that fits is taken, and one that makes no virtual environments is told with what to install', () =>
  withPrograms(
    { python3: python('3 9', ':'), 'python3.11': python('3 11', 'echo no ensurepip >&2; exit 1') },
    async (prepare, directory) => {
      const { message } = await failure(prepare())
      assert.match(message, 'python3.11 makes no virtual environments; on Debian install python3-venv (no ensurepip)')
      assert.not(existsSync(join(directory, 'venv', 'made-of.json')))
    },
  ))

test('a package index that cannot be reached is told with pip’s last word, and the next try begins anew', () => {
  const pip = "printf '#!/bin/sh\\necho first >&2; echo no route to the index >&2; exit 1\\n' > $3/bin/python"
  const venv = `/bin/mkdir -p $3/bin; ${pip}; /bin/chmod 755 $3/bin/python`
  return withPrograms({ python3: python('3 12', venv) }, async prepare => {
    for (const _ of [1, 2]) {
      const { message } = await failure(prepare())
      assert.match(message, /pip could not install hud.*it needs PyPI, or a mirror of it named by PIP_INDEX_URL/)
      assert.match(message, '(no route to the index)')
    }
  })
})

test('of two who want it at once one makes it, and the other finds it made', () => {
  const works = "printf '#!/bin/sh\\n[ $1 = -c ] && echo versions || exit 0\\n' > $3/bin/python"
  const venv = `echo made >> $3/../times; /bin/mkdir -p $3/bin; ${works}; /bin/chmod 755 $3/bin/python`
  return withPrograms({ python3: python('3 12', venv) }, async (prepare, directory) => {
    const both = await Promise.all([prepare(), prepare()])
    assert.equal(
      both.map(({ versions }) => versions),
      ['versions', 'versions'],
    )
    assert.is(await readFile(join(directory, 'times'), 'utf8'), 'made\n')
  })
})

test.run()
