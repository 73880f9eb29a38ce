export type { TrainingEvent, TrainingHistory } from './events.ts'
export type { EvaluationShape, TrainingJob, TrainOptions, TrainShape } from './options.ts'
export { toJobSettings } from './settings.ts'
export { type Training, train } from './train.ts'
