import { Environment, gradePytest, requirePytest, z } from 'troupe/environment'
import { calcSource } from './functions.ts'
import { TEST_COUNT, testSource } from './tests.ts'
import { brokenIn, splitOf } from './variants.ts'

export const env = new Environment('calc', { version: '1.0.0', workspace: true })

env.onServe(requirePytest)

export const fixCalc = env.template(
  'fix_calc',
  {
    description: 'Repair a small Python module until its tests pass.',
    args: z.object({ variant: z.int().min(0) }),
    columns: ({ variant }) => ({ variant, bugs: brokenIn(variant).length, split: splitOf(variant) }),
  },
  async function* ({ variant }, { workspace, signal }) {
    await workspace.write('calc.py', calcSource(brokenIn(variant)))
    await workspace.write('test_calc.py', testSource)

    yield 'Running pytest in your workspace fails. Fix calc.py so that every test passes. Do not edit test_calc.py.'

    yield await gradePytest({
      workspace,
      module: 'calc.py',
      tests: testSource,
      expected: TEST_COUNT,
      signal,
    })
  },
)
