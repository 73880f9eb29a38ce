import { TrainingClient } from '../../src/training/client.ts'
import { trainerContract } from '../contracts/trainer.ts'
import { startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'

const test = suite('training client contract')

trainerContract(test, 'TrainingClient', {
  open: async () => {
    const service = await startFakeTrainingService()
    const trainer = new TrainingClient('calc-model', service.endpoint)
    return {
      trainer,
      remove: async () => {
        await trainer.close()
        await service.close()
      },
    }
  },
})

test.run()
