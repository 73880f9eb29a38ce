/** Characters of one result that a model is shown at most. */
export const MAX_RESULT_CHARACTERS = 50_000

/** What a command may put out on each of its streams before the rest is dropped where it runs. */
export const MAX_OUTPUT_BYTES = 1024 * 1024

/** Takes a long text's middle out, and says so: errors tend to stand at one of the ends. */
export function cutMiddle(text: string, limit = MAX_RESULT_CHARACTERS): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`
}
