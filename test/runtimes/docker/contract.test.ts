/** What every runtime does, over a stand-in for an engine. */
import { runtimeContract } from '../../contracts/runtime.ts'
import { suite } from '../../support/suite.ts'
import { openDockerScene } from './docker-scene.ts'

const test = suite('docker runtime')
runtimeContract(test, () => openDockerScene())
test.run()
