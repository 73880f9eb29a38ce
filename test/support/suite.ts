import { suite as uvuSuite } from 'uvu'

/** A test's time limit; `TROUPE_TEST_TIMEOUT_MS` overrides it for slow machines. */
const DEFAULT_DEADLINE_MS = Number(process.env.TROUPE_TEST_TIMEOUT_MS ?? 30_000)

type TestBody = () => void | Promise<void>

interface Tally {
  declared: number
  executed: number
  passed: number
  readonly failures: { readonly suite: string; readonly test: string; readonly error: unknown }[]
  readonly suites: { readonly name: string; started: boolean }[]
}

/** Read by the runner once the file has been imported: uvu itself neither counts nor notices a test that never ran. */
export const tally: Tally = { declared: 0, executed: 0, passed: 0, failures: [], suites: [] }

export interface Suite {
  (name: string, body: TestBody, options?: { readonly deadlineMs?: number }): void
  before(hook: TestBody): void
  after(hook: TestBody): void
  beforeEach(hook: TestBody): void
  afterEach(hook: TestBody): void
  run(): void
}

// Node's own word that something adds listeners and never removes them: a leak in the product, or a bound that nobody has stated.
process.on('warning', error => {
  if (error.name === 'MaxListenersExceededWarning')
    tally.failures.push({ suite: 'process', test: 'no listener leaks', error })
})

/** One uvu suite whose tests each have a deadline, and whose hooks' failures fail the file. End the file with `.run()`. */
export function suite(name: string): Suite {
  const inner = uvuSuite(name)
  const entry = { name, started: false }
  tally.suites.push(entry)
  const guarded = (label: string, body: TestBody) => async () => {
    try {
      await body()
    } catch (error) {
      tally.failures.push({ suite: name, test: label, error })
      throw error
    }
  }
  const test: Suite = Object.assign(
    (title: string, body: TestBody, options: { readonly deadlineMs?: number } = {}) => {
      tally.declared += 1
      inner(title, async () => {
        tally.executed += 1
        try {
          await withDeadline(body, options.deadlineMs ?? DEFAULT_DEADLINE_MS)
          tally.passed += 1
        } catch (error) {
          tally.failures.push({ suite: name, test: title, error })
          throw error
        }
      })
    },
    {
      before: (hook: TestBody) => inner.before(guarded('before', hook)),
      after: (hook: TestBody) => inner.after(guarded('after', hook)),
      beforeEach: (hook: TestBody) => inner.before.each(guarded('before each', hook)),
      afterEach: (hook: TestBody) => inner.after.each(guarded('after each', hook)),
      run: () => {
        entry.started = true
        inner.run()
      },
    },
  )
  return test
}

async function withDeadline(body: TestBody, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the test took longer than ${deadlineMs} ms`)), deadlineMs)
  })
  try {
    await Promise.race([Promise.resolve().then(body), late])
  } finally {
    clearTimeout(timer)
  }
}
