import { oneServer } from '../../src/models/endpoint.ts'
import { TrainingClient } from '../../src/training/client.ts'
import { trainerContract } from '../contracts/trainer.ts'
import { suite } from '../support/suite.ts'
import { openServer } from './scene.ts'
import { VOCABULARY } from './unigram.ts'

const test = suite('the policy server, driven by the training client')

trainerContract(test, 'policy server', {
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
})

test.run()
