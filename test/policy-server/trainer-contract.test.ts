import { oneServer } from '../../src/models/endpoint.ts'
import { TrainingClient } from '../../src/training/client.ts'
import { checkpointContract, trainerContract } from '../contracts/trainer.ts'
import { suite } from '../support/suite.ts'
import { openServer } from './scene.ts'
import { VOCABULARY } from './unigram.ts'

const test = suite('the policy server, driven by the training client')

const given = {
  vocabulary: VOCABULARY,
  async open() {
    const { server } = await openServer({})
    const trainer = new TrainingClient(server.model, oneServer(server.url))
    return {
      trainer,
      async remove() {
        await trainer.close()
        await server.close()
      },
    }
  },
}

trainerContract(test, 'policy server', given)
checkpointContract(test, 'policy server', given)

test.run()
