import { TinkerTrainer } from '../../../src/training/adapters/tinker.ts'
import { trainerContract } from '../../contracts/trainer.ts'
import { hastyClock, startFakeTinker } from '../../support/fake-tinker.ts'
import { suite } from '../../support/suite.ts'

const test = suite('Tinker trainer contract')

trainerContract(test, 'TinkerTrainer', {
  async open() {
    const service = await startFakeTinker()
    const trainer = await TinkerTrainer.open({
      baseUrl: service.url,
      apiKey: service.key,
      baseModel: 'Qwen/Qwen3-8B',
      clock: hastyClock,
    })
    return {
      trainer,
      async remove() {
        await trainer.close()
        await service.close()
      },
    }
  },
})

test.run()
