export { makeSamplers } from './samplers.ts'
export { startSamplerThread, startTrainerThread } from './start.ts'
