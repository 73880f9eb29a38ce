/** Strings are skipped as wholes, so that digits in them are not looked at. */
const TOKENS = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * The first whole number in a JSON text that would read as another one here, where numbers are doubles: Python's have any size, and arguments that
 * were rounded would be another task's. Undefined when there is none. The text is valid JSON.
 */
export function findInexactNumber(json: string): { readonly digits: string; readonly offset: number } | undefined {
  for (const { 0: digits, index } of json.matchAll(TOKENS)) {
    if (digits.length < 16 || !/^-?\d+$/.test(digits)) continue
    if (String(Number(digits)) !== digits) return { digits, offset: index }
  }
  return undefined
}
