/** What every runtime does, over the emulator and both ways to reach a sandbox. */
import type { DaytonaRuntimeOptions } from '../../../src/runtimes/daytona/options.ts'
import { runtimeContract } from '../../contracts/runtime.ts'
import { suite } from '../../support/suite.ts'
import { openDaytonaScene } from './daytona-scene.ts'

for (const transport of ['auto', 'ssh', 'websocket'] as const satisfies DaytonaRuntimeOptions['transport'][]) {
  const test = suite(`daytona runtime, ${transport}`)
  runtimeContract(test, () => openDaytonaScene({ transport }))
  test.run()
}
