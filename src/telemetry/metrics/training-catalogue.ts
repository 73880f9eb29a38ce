import { type MetricDefinition, SECONDS } from './definition.ts'

/** What a training exposes, in this order. */
export const TRAINING_METRICS = {
  trainingSteps: {
    name: 'troupe_training_steps_total',
    type: 'counter',
    unit: 'steps',
    help: 'Steps that ended in this process: trained, or skipped without an update.',
    labels: ['end'],
  },
  trainingStep: {
    name: 'troupe_training_step',
    type: 'gauge',
    unit: 'step',
    help: 'The step that began last, from 1.',
    absentAtFirst: true,
  },
  trainingLoss: {
    name: 'troupe_training_loss',
    type: 'gauge',
    unit: 'loss',
    help: 'Loss of the last step that trained on something: the sum over tokens.',
    absentAtFirst: true,
  },
  trainingPassRate: {
    name: 'troupe_training_pass_rate',
    type: 'gauge',
    unit: 'ratio',
    help: 'Share of the last step’s runs that had the full reward.',
    absentAtFirst: true,
  },
  trainingSpread: {
    name: 'troupe_training_group_spread',
    type: 'gauge',
    unit: 'reward',
    help: 'Mean over the last step’s groups of the standard deviation of their rewards.',
    absentAtFirst: true,
  },
  policyVersion: {
    name: 'troupe_training_policy_version',
    type: 'gauge',
    unit: 'optimiser steps',
    help: 'Optimiser steps of the policy that is served, as its service counts them.',
    absentAtFirst: true,
  },
  trainingStepSeconds: {
    name: 'troupe_training_step_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long steps took: their rollouts, the training calls, and the whole, which is less than their sum where they overlap.',
    labels: ['part'],
    buckets: SECONDS,
  },
  trainingChunks: {
    name: 'troupe_training_chunks_total',
    type: 'counter',
    unit: 'chunks',
    help: 'Training calls that ended: trained or failed.',
    labels: ['status'],
  },
  trainingChunkSeconds: {
    name: 'troupe_training_chunk_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How long training calls took, failed ones too.',
    buckets: SECONDS,
  },
  trainingDatums: {
    name: 'troupe_training_datums_total',
    type: 'counter',
    unit: 'samples',
    help: 'Samples, one a turn, that were trained on.',
  },
  trainingTokens: {
    name: 'troupe_training_tokens_total',
    type: 'counter',
    unit: 'tokens',
    help: 'Output tokens of the runs of steps that ended.',
  },
  evaluationPassRate: {
    name: 'troupe_evaluation_pass_rate',
    type: 'gauge',
    unit: 'ratio',
    help: 'Share of the last evaluation’s runs that had the full reward, by split.',
    labels: ['split'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>
