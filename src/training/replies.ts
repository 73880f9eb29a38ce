import { z } from 'zod'
import { metricsReply } from '../models/replies.ts'
import type { DatumTensors } from './custom-loss.ts'
import type { AccumulatedState, ForwardBackwardResult, OptimStepResult } from './trainer.ts'

/** What the training service answers, read once. Fields that are not known here are left out. */
export const forwardBackwardReply = z
  .object({ metrics: metricsReply, num_datums: z.number() })
  .transform(({ metrics, num_datums }): ForwardBackwardResult => ({ metrics, numDatums: num_datums }))

export const optimStepReply = z
  .object({
    step: z.number(),
    checkpoint_id: z.string(),
    sampler_path: z.string(),
    state_path: z.string(),
    model: z.string(),
  })
  .transform(
    (reply): OptimStepResult => ({
      policyVersion: reply.checkpoint_id,
      step: reply.step,
      checkpointId: reply.checkpoint_id,
      samplerPath: reply.sampler_path,
      statePath: reply.state_path,
      model: reply.model,
    }),
  )

export const stateReply = z
  .object({ step: z.number(), accumulated: z.object({ calls: z.number() }) })
  .transform(({ step, accumulated }): AccumulatedState => ({ step, calls: accumulated.calls }))

export const lossesReply = z.object({ losses: z.array(z.string()) }).transform(({ losses }) => losses)

const row = z.array(z.number())

export const forwardReply = z
  .object({
    forward_id: z.string(),
    data: z.array(
      z
        .object({
          reward: z.number(),
          traj_idx: z.number(),
          group_idx: z.number().nullish(),
          logprobs: row,
          sampling_logprobs: row,
          mask: row,
        })
        .transform(
          (datum): DatumTensors => ({
            reward: datum.reward,
            trajectoryIndex: datum.traj_idx,
            groupIndex: datum.group_idx ?? null,
            logprobs: datum.logprobs,
            samplingLogprobs: datum.sampling_logprobs,
            mask: datum.mask,
          }),
        ),
    ),
  })
  .transform(({ forward_id, data }) => ({ forwardId: forward_id, data }))
