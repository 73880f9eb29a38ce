import { TrainingClient } from '../../src/training/client.ts'
import { checkpointContract, trainerContract } from '../contracts/trainer.ts'
import { startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'

const test = suite('training client contract')

const given = {
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
}

trainerContract(test, 'TrainingClient', given)
checkpointContract(test, 'TrainingClient', given)

test.run()
