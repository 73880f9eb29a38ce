export { type ExplainedStep, explainJob, type JobExplanation, pickStep } from './explain-job.ts'
export { renderExplanation } from './render.ts'
export { toJson } from './to-json.ts'
