/** A token and its log-probability at temperature 1, whatever the temperature it was drawn at. */
export interface PickedToken {
  readonly token: number
  /** Not finite where the logits are not. */
  readonly logprob: number
}

/**
 * Draws from the distribution of `logits` at a temperature, with one number of `random`. Temperature 0 takes the likeliest, the first
 * among equals, and draws nothing.
 */
export function pickToken(logits: Float32Array, temperature: number, random: () => number): PickedToken {
  const size = logits.length
  let likeliest = 0
  for (let i = 1; i < size; i += 1) if ((logits[i] ?? 0) > (logits[likeliest] ?? 0)) likeliest = i
  const largest = logits[likeliest] ?? 0
  let total = 0
  for (let i = 0; i < size; i += 1) total += Math.exp((logits[i] ?? 0) - largest)
  const token = temperature === 0 ? likeliest : draw(logits, temperature, random(), { likeliest, total })
  return { token, logprob: (logits[token] ?? Number.NaN) - largest - Math.log(total) }
}

function draw(
  logits: Float32Array,
  temperature: number,
  place: number,
  { likeliest, total }: { readonly likeliest: number; readonly total: number },
): number {
  const largest = logits[likeliest] ?? 0
  const share = (i: number) => Math.exp(((logits[i] ?? 0) - largest) / temperature)
  let sum = total
  if (temperature !== 1) {
    sum = 0
    for (let i = 0; i < logits.length; i += 1) sum += share(i)
  }
  let left = place * sum
  for (let i = 0; i < logits.length; i += 1) {
    left -= share(i)
    if (left < 0) return i
  }
  return likeliest
}
