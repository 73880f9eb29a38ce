import type { Loss } from '../policy.ts'
import { lossConfig, unknownLoss } from './errors.ts'

export const LOSS_NAMES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'] as const
export type BuiltInLoss = (typeof LOSS_NAMES)[number]

/** A loss that needs nothing beside the data. */
export type DataLoss = Exclude<Loss, { readonly name: 'weights' }>

/** How a call's data are to be learned from. */
export interface LossPlan {
  readonly name: BuiltInLoss
  readonly loss: DataLoss
  /** Passes over the data in one optim-step; only above 1 where the data are kept. */
  readonly epochs: number
}

const CLIP_LOW = 0.8
const CLIP_HIGH = 1.28
const DRO_BETA = 0.05
const MAX_EPOCHS = 16

const KEYS: Readonly<Record<BuiltInLoss, readonly string[]>> = {
  cross_entropy: ['epochs'],
  importance_sampling: ['epochs'],
  ppo: ['clip_low_threshold', 'clip_high_threshold', 'epochs'],
  cispo: ['clip_low_threshold', 'clip_high_threshold', 'epochs'],
  dro: ['beta', 'epochs'],
}

/** Throws `unknown-loss`, or `loss-config` for a key that the loss does not know or a value out of its range. */
export function parseLoss(name: string, config: Readonly<Record<string, number>>): LossPlan {
  const known = LOSS_NAMES.find(each => each === name)
  if (known === undefined) throw unknownLoss(name, LOSS_NAMES)
  for (const key of Object.keys(config))
    if (!KEYS[known].includes(key)) throw lossConfig(known, `has no key '${key}'; it takes ${KEYS[known].join(', ')}`)
  const { epochs = 1 } = config
  if (!Number.isInteger(epochs) || epochs < 1 || epochs > MAX_EPOCHS)
    throw lossConfig(known, `needs whole 'epochs' from 1 to ${MAX_EPOCHS}, not ${epochs}`)
  return { name: known, loss: withConfig(known, config), epochs }
}

function withConfig(name: BuiltInLoss, config: Readonly<Record<string, number>>): DataLoss {
  if (name === 'dro') {
    const { beta = DRO_BETA } = config
    if (beta < 0) throw lossConfig(name, `needs a 'beta' of 0 or more, not ${beta}`)
    return { name, beta }
  }
  if (name !== 'ppo' && name !== 'cispo') return { name }
  const { clip_low_threshold: low = CLIP_LOW, clip_high_threshold: high = CLIP_HIGH } = config
  if (low < 0 || low > 1 || high < 1)
    throw lossConfig(name, `needs 0 ≤ clip_low_threshold ≤ 1 ≤ clip_high_threshold, not ${low} and ${high}`)
  return { name, low, high }
}
