import { openHttpTrainer } from '../../examples/http-trainer.ts'
import { trainerContract } from '../contracts/trainer.ts'
import { suite } from '../support/suite.ts'

const test = suite('the example of an HTTP trainer')

trainerContract(test, 'HTTP trainer', {
  // It has four answers.
  vocabulary: 4,
  async open() {
    const { trainer } = await openHttpTrainer()
    return { trainer, remove: async () => trainer.close?.() }
  },
})

test.run()
