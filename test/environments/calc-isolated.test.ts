import { spawnSync } from 'node:child_process'
import * as assert from 'uvu/assert'
import { calcSource } from '../../environments/calc/functions.ts'
import { testSource } from '../../environments/calc/tests.ts'
import { brokenIn } from '../../environments/calc/variants.ts'
import { systemClock } from '../../src/clock.ts'
import { makeWorkspaceHost } from '../../src/environment/workspace/index.ts'
import type { OpenWorkspace, WorkspaceHost } from '../../src/environment/workspace.ts'
import { loadSource } from '../support/environment-sources.ts'
import { suite } from '../support/suite.ts'

const test = suite('the calc task in real sandboxes')
const { env } = await loadSource<typeof import('../../environments/calc/env.ts')>('calc/env.ts')

let host: WorkspaceHost
let count = 0
test.before(async () => {
  host = makeWorkspaceHost()
  await host.preflight()
})
test.after(async () => {
  await host.close()
})

/** One task in a workspace of its own; `attempt` does what an agent does through its shell. */
async function attempt(
  body: (opened: OpenWorkspace['workspace']) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  count += 1
  const opened = await host.open(`sess-${count}`)
  const controller = new AbortController()
  try {
    const { workspace } = opened
    const context = { workspace, signal: controller.signal, sessionId: `sess-${count}`, clock: systemClock }
    const life = env.templates.get('fix_calc')?.body({ variant: 0 }, context)
    assert.match(String((await life?.next())?.value), 'pytest')
    await body(workspace)
    const grade: Record<string, unknown> = Object((await life?.next('done'))?.value)
    await life?.return(undefined)
    return grade
  } finally {
    controller.abort()
    await opened.close()
  }
}

const FIXED = calcSource([])
const shownTests = { score: 0, failed: brokenIn(0).length }

test('the bugs are there, and an honest repair earns the reward', async () => {
  const untouched = await attempt(async workspace => {
    assert.is(await workspace.read('calc.py'), calcSource(brokenIn(0)))
    assert.is(await workspace.read('test_calc.py'), testSource)
    const run = await workspace.exec('PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider')
    assert.is(run.exitCode, 1, run.stdout)
  })
  assert.is(untouched.score, shownTests.score)
  const repaired = await attempt(workspace => workspace.exec('cat > calc.py', { stdin: FIXED }))
  assert.is(repaired.score, 1, JSON.stringify(repaired))
})

test('nothing beside calc.py counts: tests, conftest, sitecustomize, settings, a false pytest, a forged report', async () => {
  const grade = await attempt(workspace =>
    workspace.exec(`
      printf 'def test_mean(): pass\\n' > test_calc.py
      printf 'def pytest_collection_modifyitems(items): items.clear()\\n' > conftest.py
      printf 'import os\\nos._exit(0)\\n' | tee sitecustomize.py pytest.py usercustomize.py > /dev/null
      printf '[pytest]\\naddopts = --collect-only\\n' | tee pytest.ini tox.ini setup.cfg > /dev/null
      printf '<testsuites/>' > report.xml
      echo 'export PYTEST_ADDOPTS=--collect-only' | tee .bashrc .profile .bash_profile > /dev/null
      (while true; do sleep 1; done) & disown
    `),
  )
  assert.is(grade.score, 0)
  assert.is(Object(grade.info).failed.length >= shownTests.failed, true, JSON.stringify(grade))
  assert.is(Object(grade.info).passed.length > 0, true, 'the true tests ran')
})

const cheats: Readonly<Record<string, string>> = {
  'leaving at import': 'import os\nprint("10 passed in 0.01s")\nos._exit(0)\n',
  'killing all it can': 'import os, signal\nos.kill(-1, signal.SIGKILL)\n',
  'values that equal everything': `class Any(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
def __getattr__(name): return lambda *args: Any(0)
`,
  'reaching for the judge': `import glob, os
for fd in range(64):
    try: os.write(fd, b'{"id": 1, "ok": true, "value": 3.25}\\n')
    except OSError: pass
for path in glob.glob('/**/report.xml', recursive=False) + ['report.xml', '../report.xml', '/tmp/report.xml']:
    try: open(path, 'w').write('<testsuites/>')
    except OSError: pass
`,
}

for (const [what, source] of Object.entries(cheats)) {
  test(`${what} earns nothing`, async () => {
    const grade = await attempt(workspace => workspace.exec('cat > calc.py', { stdin: source }))
    assert.is(grade.score, 0, JSON.stringify(grade))
  })
}

test('a calc.py that is a link out of the workspace, or gone, earns nothing and is no error', async () => {
  for (const command of ['ln -sf /etc/passwd calc.py', 'rm calc.py', 'rm calc.py; mkdir calc.py; mkfifo calc.py/x'])
    assert.is((await attempt(workspace => workspace.exec(command))).score, 0, command)
})

test('what the environment needs is there', async () => {
  for (const check of env.hooks.checks) await check()
  assert.is(spawnSync('/usr/bin/python3', ['-I', '-c', 'import pytest']).status, 0)
})

test.run()
