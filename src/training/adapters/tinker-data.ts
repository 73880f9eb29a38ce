import type { TrainingSample } from '../samples.ts'

/** A one-dimensional tensor as it stands in the JSON of Tinker's API. */
export interface TensorData {
  readonly data: readonly number[]
  readonly dtype: 'int64' | 'float32'
  readonly shape: readonly [number]
}

/** One sequence to train on: each token is predicted from those before it. */
export interface Datum {
  readonly model_input: {
    readonly chunks: readonly [{ readonly type: 'encoded_text'; readonly tokens: readonly number[] }]
  }
  readonly loss_fn_inputs: Readonly<Record<'target_tokens' | 'logprobs' | 'advantages', TensorData>>
}

/**
 * A sample in the form that Tinker's losses want: inputs are all tokens but the last, targets all but the first, and over the prompt both
 * logprobs and advantages are 0, as in `trajectory_to_data` of thinking-machines-lab/tinker-cookbook (rl/data_processing.py).
 */
export function toDatum({ tokens, advantage }: TrainingSample): Datum {
  const { prompt, output, logprobs } = tokens
  const all = [...prompt, ...output]
  const ofPrompt = Array.from(prompt, () => 0)
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: all.slice(0, -1) }] },
    loss_fn_inputs: {
      target_tokens: toTensor('int64', all.slice(1)),
      logprobs: toTensor('float32', [...ofPrompt, ...logprobs].slice(1)),
      advantages: toTensor('float32', [...ofPrompt, ...Array.from(output, () => advantage)].slice(1)),
    },
  }
}

/**
 * r − mean within the group: `compute_grpo_advantages` of thinking-machines-lab/tinker-cookbook (rl/advantages.py). Without spread they are 0
 * exactly, whatever rounding does to the mean.
 */
export function centred(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  const hasSpread = rewards.some(reward => reward !== rewards[0])
  return rewards.map(reward => (hasSpread ? reward - mean : 0))
}

/** What one request carries. */
export interface Part {
  readonly groupIds: ReadonlySet<string>
  readonly data: readonly Datum[]
}

/** The bounds of one request that Tinker's own client keeps to. */
const MAX_DATA = 128
const MAX_NUMBERS = 500_000

/** Requests of whole groups as far as they fit; a group that does not fit into one goes on in the next. */
export function toParts(samples: readonly TrainingSample[]): Part[] {
  const parts: { groupIds: Set<string>; data: Datum[]; numbers: number }[] = []
  for (const { groupId, data, numbers } of groupData(samples)) {
    const open = parts.at(-1)
    const fits =
      open !== undefined && open.data.length + data.length <= MAX_DATA && open.numbers + numbers <= MAX_NUMBERS
    let part = fits ? open : undefined
    for (const datum of data) {
      const size = countNumbers(datum)
      if (part === undefined || part.data.length === MAX_DATA || part.numbers + size > MAX_NUMBERS) {
        part = { groupIds: new Set(), data: [], numbers: 0 }
        parts.push(part)
      }
      part.groupIds.add(groupId)
      part.data.push(datum)
      part.numbers += size
    }
  }
  return parts
}

function groupData(samples: readonly TrainingSample[]) {
  const groups = new Map<string, { groupId: string; data: Datum[]; numbers: number }>()
  for (const sample of samples) {
    const group = groups.get(sample.groupId) ?? { groupId: sample.groupId, data: [], numbers: 0 }
    const datum = toDatum(sample)
    group.data.push(datum)
    group.numbers += countNumbers(datum)
    groups.set(sample.groupId, group)
  }
  return groups.values()
}

/** Inputs and three tensors of the same length. */
function countNumbers({ model_input }: Datum): number {
  return 4 * model_input.chunks[0].tokens.length
}

function toTensor(dtype: TensorData['dtype'], data: readonly number[]): TensorData {
  return { data, dtype, shape: [data.length] }
}
