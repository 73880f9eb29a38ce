/** What stands for all values beyond the first ones. */
export const OTHER = 'other'

const MOST_VALUES = 32
const LONGEST = 64

/** Names that come from outside, few as they should be, as values of a label: the first 32 as they are, cut to 64 characters, and `other` for the rest. */
export function makeBoundedLabel(): (value: string) => string {
  const seen = new Set<string>()
  return value => {
    const label = value.slice(0, LONGEST)
    if (!seen.has(label) && seen.size >= MOST_VALUES) return OTHER
    seen.add(label)
    return label
  }
}
