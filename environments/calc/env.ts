import { Environment, gradePytest, requirePytest, z } from 'troupe/environment'
import { calcSource } from './functions.ts'
import { HIDDEN_COUNT, hiddenTests, TEST_COUNT, testSource } from './tests.ts'
import { brokenIn, splitOf } from './variants.ts'

export const env = new Environment('calc', { version: '1.0.0', workspace: true })

env.onServe(requirePytest)

export const PROMPT =
  'Running pytest in your workspace fails. Fix calc.py so that every test passes. Do not edit test_calc.py.'

export const fixCalc = env.template(
  'fix_calc',
  {
    description: 'Repair a small Python module until its tests pass.',
    args: z.object({ variant: z.int().min(0), bugs: z.enum(['known', 'unseen']).optional() }),
    columns: ({ variant, bugs }) => ({ variant, bugs: brokenIn(variant).length, split: splitOf(variant, bugs) }),
  },
  async function* ({ variant, bugs }, { workspace, signal }) {
    await workspace.write('calc.py', calcSource(brokenIn(variant), bugs))
    await workspace.write('test_calc.py', testSource)

    yield PROMPT

    yield await gradePytest({
      workspace,
      module: 'calc.py',
      tests: `${testSource}${hiddenTests}`,
      expected: TEST_COUNT + HIDDEN_COUNT,
      signal,
    })
  },
)
