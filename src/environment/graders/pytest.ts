import { hasTag } from '../../errors.ts'
import type { CleanRun, Workspace } from '../workspace.ts'
import { badTests, graderFailed, pytestUnusable } from './errors.ts'
import type { ReportedTest } from './junit-report.ts'
import { peerProgram, proxyModule } from './pytest-programs.ts'
import type { Score } from './score.ts'
import { WARM_PYTEST } from './warm-pytest.ts'

/** What `gradePytest` tests, and by what. */
export interface PytestGrade {
  readonly workspace: Pick<Workspace, 'read' | 'runClean'>
  /** The one file of the agent's that counts, a Python module at the top of the workspace: `calc.py`. */
  readonly module: string
  /** The text of the tests, whatever the workspace holds. They import functions from the module and exchange JSON values with them. */
  readonly tests: string
  /** How many tests there are; so many must have run. */
  readonly expected: number
  /** What the agent's code may take in all, its import included; afterwards its tests fail. 10,000 when absent. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The system's own, which is what a sandbox shows. */
export const PYTHON = '/usr/bin/python3'

/** For the judge's own start and end: none of the agent's code runs in it, so only the machine can be that slow. */
const JUDGE_MS = 60_000
const REPORT = 'report.xml'

/** `-I` ignores Python's own variables, hence `-B` among the arguments; the rest are pytest's and the system's. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }
const SETTINGS = '[pytest]\npythonpath = .\naddopts =\n'

/**
 * Grades a Python module by tests that it cannot touch: 1 when every test passes, else 0. Of the workspace only the module's
 * file is read. The tests run in a fresh directory, isolated, without any plugin, setting, conftest or variable of the agent's;
 * the module runs in a second isolated process, which the tests ask over a pipe (see pytest-programs.ts); pytest itself is loaded
 * once a host and forked (see warm-pytest.ts), which never meets the agent's code. Results come from pytest's report file, never from what was printed. `info` has the names that `passed` and `failed`, and a `reason`. What is
 * not the agent's doing throws, so that no reward is given: `pytest-unusable`, `bad-tests`, `grader-failed`.
 */
export async function gradePytest(grade: PytestGrade): Promise<Score> {
  if (!/^[A-Za-z_]\w*\.py$/.test(grade.module)) throw badTests(`"${grade.module}" is no name of a Python file`)
  const source = await readModule(grade)
  if (source === undefined) {
    const reason = `${grade.module} is missing from the workspace, too large, or cannot be read`
    return { score: 0, info: { passed: [], failed: [], reason } }
  }
  const tests = await judge(grade, source)
  if (tests.length !== grade.expected)
    throw badTests(`${tests.length} tests ran where ${grade.expected} were expected: correct "expected" or the tests`)
  const failed = tests.filter(({ passed }) => !passed)
  const [first] = failed
  return {
    score: first === undefined ? 1 : 0,
    info: {
      passed: tests.filter(({ passed }) => passed).map(({ name }) => name),
      failed: failed.map(({ name }) => name),
      ...(first === undefined ? {} : { reason: `${first.name}: ${first.message.slice(0, 300)}` }),
    },
  }
}

/** Larger ones than this are no module: it is copied, and many are graded at once. */
const MAX_MODULE_CHARACTERS = 1 << 20

/** A module that is gone, a link, a directory or too large is what the agent left, and no module. */
async function readModule({ workspace, module }: PytestGrade): Promise<string | undefined> {
  try {
    const source = await workspace.read(module)
    return source.length > MAX_MODULE_CHARACTERS ? undefined : source
  } catch (error) {
    if (['file-not-read', 'path-refused', 'file-too-large'].some(tag => hasTag(error, tag))) return undefined
    throw error
  }
}

async function judge(grade: PytestGrade, source: string): Promise<readonly ReportedTest[]> {
  let result: Awaited<ReturnType<Workspace['runClean']>>
  try {
    result = await grade.workspace.runClean(toRun(grade, source))
  } catch (error) {
    throw hasTag(error, 'command-timeout') ? graderFailed('pytest took too long by itself', '', error) : error
  }
  const { exitCode, stdout, stderr, collected } = result
  const xml = collected.get(REPORT)
  const { parseJunitReport } = await import('./junit-report.ts')
  const report = xml === undefined ? undefined : parseJunitReport(xml)
  // 0: all passed; 1: some failed. Anything else is no run of the tests.
  if (report !== undefined && (exitCode === 0 || exitCode === 1)) return report
  if (exitCode === 126 || exitCode === 127 || /No module named '?_?pytest/.test(stderr))
    throw pytestUnusable(PYTHON, stderr)
  throw graderFailed(`pytest ended with ${exitCode}`, `${stdout}\n${stderr}`)
}

function toRun({ module, tests, timeoutMs = 10_000, signal }: PytestGrade, source: string): CleanRun {
  const testFile = `test_${module}`
  const alone = ['-p', 'no:cacheprovider', '--noconftest', '-c', 'pytest.ini', '--rootdir', '.']
  const options = ['-q', ...alone, '--tb=line', `--junitxml=${REPORT}`, testFile]
  return {
    argv: [PYTHON, '-I', '-B', '-m', 'pytest', ...options],
    warm: { argv: [PYTHON, '-I', '-B', 'warm.py'], files: new Map([['warm.py', WARM_PYTEST]]), arguments: options },
    files: new Map([
      [testFile, tests],
      [module, proxyModule(module, timeoutMs)],
      ['pytest.ini', SETTINGS],
    ]),
    env: ENVIRONMENT,
    collect: [REPORT],
    timeoutMs: timeoutMs + JUDGE_MS,
    ...(signal === undefined ? {} : { signal }),
    peer: {
      argv: [PYTHON, '-I', '-S', '-B', 'peer.py'],
      files: new Map([
        [module, source],
        ['peer.py', peerProgram(module)],
      ]),
    },
  }
}
