import * as assert from 'uvu/assert'
import { commandStatus } from '../../../src/environment/graders/command-status.ts'
import { parseJunitReport } from '../../../src/environment/graders/junit-report.ts'
import { gradePytest, type PytestGrade } from '../../../src/environment/graders/pytest.ts'
import type { Score } from '../../../src/environment/graders/score.ts'
import type { CleanRun } from '../../../src/environment/workspace.ts'
import { hasTag } from '../../../src/errors.ts'
import { makePlainWorkspace } from '../../support/plain-workspace.ts'
import { suite } from '../../support/suite.ts'

const test = suite('pytest as a judge')

const GOOD = 'def double(x):\n    return 2 * x\n\ndef root(x):\n    return x ** 0.5\n'
const BAD = 'def double(x):\n    return x\n\ndef root(x):\n    return x ** 0.5\n'
const TESTS = `import pytest
from calc import double, root

def test_double():
    assert double(21) == 42

def test_root():
    assert root(2) == pytest.approx(1.41421356)
`

async function grade(files: Readonly<Record<string, string>>, options: Partial<PytestGrade> = {}): Promise<Score> {
  const workspace = await makePlainWorkspace()
  try {
    for (const [path, content] of Object.entries(files)) await workspace.write(path, content)
    return await gradePytest({ workspace, module: 'calc.py', tests: TESTS, expected: 2, ...options })
  } finally {
    await workspace.close()
  }
}

async function throws(tag: string, graded: Promise<Score>): Promise<void> {
  const error = await graded.catch((thrown: unknown) => thrown)
  assert.ok(hasTag(error, tag), `expected ${tag}, got ${JSON.stringify(error) ?? String(error)}`)
}

const bothFail = { passed: [], failed: ['test_double', 'test_root'] }
const oneFails = { passed: ['test_root'], failed: ['test_double'] }

test('a module that passes every test scores 1, and names them', async () => {
  assert.equal(await grade({ 'calc.py': GOOD }), {
    score: 1,
    info: { passed: ['test_double', 'test_root'], failed: [] },
  })
})

test('one failing test makes 0, and says why', async () => {
  const { score, info } = await grade({ 'calc.py': BAD })
  assert.is(score, 0)
  assert.equal([info?.passed, info?.failed], [oneFails.passed, oneFails.failed])
  assert.match(String(info?.reason), /test_double: .*21 == 42/s)
})

test('another number of tests than expected, or tests that do not run, are a mistake of their author', async () => {
  await throws('bad-tests', grade({ 'calc.py': GOOD }, { expected: 3 }))
  await throws('bad-tests', grade({ 'calc.py': GOOD }, { module: '../calc.py' }))
  await throws('grader-failed', grade({ 'calc.py': GOOD }, { tests: 'def test_a(:\n' }))
})

test('a missing module scores 0 and says so', async () => {
  const { score, info } = await grade({})
  assert.is(score, 0)
  assert.match(String(info?.reason), 'calc.py is missing')
})

const bystanders: Readonly<Record<string, string>> = {
  'test_calc.py': 'def test_double(): pass\ndef test_root(): pass\n',
  'conftest.py':
    'import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = "passed"\n',
  'sitecustomize.py': 'import os\nos._exit(0)\n',
  'pytest.py': 'import sys\nsys.exit(0)\n',
  'pytest.ini': '[pytest]\naddopts = --co\n',
  'json.py': 'def dumps(x): return "{}"\n',
  'report.xml':
    '<testsuites><testsuite><testcase name="test_double"/><testcase name="test_root"/></testsuite></testsuites>',
}

test('other files in the workspace change nothing: tests, conftest, sitecustomize, pytest, settings, reports', async () => {
  const bad = await grade({ ...bystanders, 'calc.py': BAD })
  assert.equal([bad.score, bad.info?.passed, bad.info?.failed], [0, oneFails.passed, oneFails.failed])
  assert.is((await grade({ ...bystanders, 'calc.py': GOOD })).score, 1)
})

const cheats: Readonly<Record<string, string>> = {
  'a printed summary and a forged report': `print("2 passed in 0.01s")\nopen("report.xml", "w").write(${JSON.stringify(bystanders['report.xml'])})\n${BAD}`,
  'objects that equal everything': `class Equal(float):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n\ndef double(x): return Equal(0)\ndef root(x): return Equal(0)\n`,
  'dictionaries and other objects': 'def double(x): return {}\ndef root(x): return object()\n',
  'an exit while it loads': `import os\nos._exit(0)\n`,
  'an exit in a function': `import os\ndef double(x): os._exit(0)\ndef root(x): os._exit(0)\n`,
  'a syntax error': 'def double(x) return 42\n',
  'replies that were not asked for': `import os\nfor fd in range(20):\n    for id in (1, 2):\n        try: os.write(fd, b'{"ok": true, "value": [], "id": %d}\\n' % id)\n        except OSError: pass\n${BAD}`,
  'a patched pytest': `import sys\ntry:\n    import pytest\n    pytest.approx = lambda *a: 0\nexcept ImportError: pass\ndef double(x): return 0\ndef root(x): return 0\n`,
  'skips and exits that are exceptions': 'def double(x): raise SystemExit(0)\ndef root(x): raise KeyboardInterrupt()\n',
}

for (const [what, source] of Object.entries(cheats)) {
  test(`${what}: 0`, async () => {
    const { score, info } = await grade({ 'calc.py': source })
    assert.is(score, 0)
    assert.ok(Array.isArray(info?.failed) && info.failed.includes('test_double'), JSON.stringify(info))
  })
}

test('dying before the first call fails every test', async () => {
  const { info } = await grade({ 'calc.py': 'import os\nos._exit(0)\n' })
  assert.equal([info?.passed, info?.failed], [bothFail.passed, bothFail.failed])
  assert.match(String(info?.reason), 'the process that ran calc.py has ended')
})

test('prints of honest code do no harm', async () => {
  assert.is(
    (await grade({ 'calc.py': `print("hello")\n${GOOD.replaceAll('    return', '    print("x"); return')}` })).score,
    1,
  )
})

test('a loop without end fails its tests at the deadline', async () => {
  const { score, info } = await grade({ 'calc.py': 'while True: pass\n' }, { timeoutMs: 300 })
  assert.is(score, 0)
  assert.equal(info?.failed, bothFail.failed)
  assert.match(String(info?.reason), 'calc.py gave no answer in time')
})

test('sleeping costs only the tests that come after the budget', async () => {
  const slow = `import time\ndef double(x): return 2 * x\ndef root(x): time.sleep(60)\n`
  const { info } = await grade({ 'calc.py': slow }, { timeoutMs: 500 })
  assert.equal([info?.passed, info?.failed], [['test_double'], ['test_root']])
})

test('values and errors of many kinds pass over', async () => {
  const module = `from fractions import Fraction
def values(): return [None, True, 1, 2.5, "ü", {"a": [1]}, (1, 2)]
def infinite(): return float("inf")
def third(): return Fraction(1, 3)
def refuse(x): raise ValueError("no " + x)
def named(a, *, b): return [a, b]
`
  const tests = `import pytest
from calc import values, infinite, third, refuse, named, missing
def test_values(): assert values() == [None, True, 1, 2.5, "ü", {"a": [1]}, [1, 2]]
def test_infinite(): assert infinite() == float("inf")
def test_nan(): assert named(float("nan"), b=1)[0] != 0
def test_third(): assert third() == pytest.approx(1 / 3)
def test_named(): assert named(1, b=2) == [1, 2]
def test_refuse():
    with pytest.raises(ValueError, match="no way"):
        refuse("way")
def test_missing():
    with pytest.raises(AttributeError):
        missing()
`
  assert.equal((await grade({ 'calc.py': module }, { tests, expected: 7 })).info?.failed, [])
})

test('where the process for the agent’s code does not start, there is no verdict', async () => {
  const plain = await makePlainWorkspace()
  try {
    await plain.write('calc.py', GOOD)
    const neverStarts = { argv: ['/bin/false'], files: new Map<string, string>() }
    const workspace = { read: plain.read, runClean: (run: CleanRun) => plain.runClean({ ...run, peer: neverStarts }) }
    await throws('grader-failed', gradePytest({ workspace, module: 'calc.py', tests: TESTS, expected: 2 }))
  } finally {
    await plain.close()
  }
})

test('an abort is no score', async () => {
  const controller = new AbortController()
  const graded = grade({ 'calc.py': 'while True: pass\n' }, { signal: controller.signal })
  controller.abort(new Error('enough'))
  assert.is(await graded.catch((error: unknown) => error instanceof Error && error.message), 'enough')
})

test('a machine without pytest is an error, not a score', async () => {
  const workspace = {
    read: async () => GOOD,
    runClean: async () => ({ exitCode: 1, stdout: '', stderr: 'No module named pytest', collected: new Map() }),
  }
  await throws('pytest-unusable', grade({}, { workspace }))
})

test('a report is read by its elements, and anything else is none', () => {
  const xml =
    '<?xml version="1.0"?><testsuites><testsuite><testcase name="a"/><testcase name="b"><failure message="x &lt;testcase name=&quot;z&quot;/&gt;">t</failure></testcase><testcase name="c"><skipped/></testcase></testsuite></testsuites>'
  assert.equal(parseJunitReport(xml), [
    { name: 'a', passed: true, message: '' },
    { name: 'b', passed: false, message: 'x <testcase name="z"/>' },
    { name: 'c', passed: false, message: '' },
  ])
  for (const other of ['', 'no', '<testsuites', '<other/>']) assert.is(parseJunitReport(other), undefined)
})

test('a command scores by how it exits', async () => {
  const workspace = await makePlainWorkspace()
  try {
    assert.equal(await commandStatus(workspace, 'echo hi'), {
      score: 1,
      info: { exitCode: 0, stdout: 'hi\n', stderr: '' },
    })
    assert.is((await commandStatus(workspace, 'exit 3')).score, 0)
    const late = await commandStatus(workspace, 'sleep 30', { timeoutMs: 50 })
    assert.equal(late, { score: 0, info: { timedOut: true, timeoutMs: 50 } })
  } finally {
    await workspace.close()
  }
})

test.run()
