import type { TinkerOptions, TinkerTrainer } from './tinker.ts'

/** Opens a training through Tinker's HTTP API: see `TinkerTrainer`, which is loaded with this. Close it, or hold it with `await using`. */
export async function openTinkerTrainer(options: TinkerOptions): Promise<TinkerTrainer> {
  const { TinkerTrainer } = await import('./tinker.ts')
  return TinkerTrainer.open(options)
}
