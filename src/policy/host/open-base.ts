import { makeChatFormat } from '../chat-format.ts'
import { policyUnreadable } from '../errors.ts'
import type { TrainingState } from '../policy.ts'
import type { PolicyContents } from '../policy-contents.ts'
import { decodePolicy, encodePolicy, readPolicyFile } from '../policy-file.ts'
import type { PolicyServerOptions } from '../server/server.ts'
import { makeSamplers, startSamplerThread, startTrainerThread } from '../threads/index.ts'
import { makeTokenizer } from '../tokenizer.ts'
import { zeroWeights } from '../weights.ts'

type Base = Pick<
  PolicyServerOptions,
  'base' | 'newName' | 'tokenizer' | 'limits' | 'format' | 'machines' | 'checkpoints'
>

/**
 * A policy file as what a server is made of. Its checkpoints are policy files too, with the optimiser's moments: each can be the base of
 * another server. Rejects with `policy-unreadable`.
 */
export async function openBase(path: string, samplers: number): Promise<Base> {
  const contents = await readPolicyFile(path)
  const { shape, name } = contents
  const tokenizer = makeTokenizer(contents.tokenizer)
  return {
    base: toState(contents),
    newName: name,
    tokenizer: tokenizer.fingerprint,
    limits: shape,
    format: makeChatFormat(tokenizer, shape),
    machines: {
      startSampler: async () => makeSamplers(Array.from({ length: samplers }, () => startSamplerThread(shape))),
      startTrainer: async () => startTrainerThread(shape),
    },
    checkpoints: {
      encode: ({ weights, ...training }) => encodePolicy({ ...contents, weights, training }),
      decode(bytes, file) {
        const checkpoint = decodePolicy(file, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
        if (checkpoint.training === undefined) throw policyUnreadable(file, 'it has no moments to go on training from')
        return toState(checkpoint)
      },
    },
  }
}

/** A base without moments begins its training with none. */
function toState({ shape, weights, training }: PolicyContents): TrainingState {
  if (training === undefined) return { weights, first: zeroWeights(shape), second: zeroWeights(shape), step: 0 }
  const { first, second, step } = training
  return { weights, first, second, step }
}
