import type { Clock } from '../../clock.ts'
import { makeHider, notedSecrets } from '../../redact.ts'

const FRESH_MS = 1_000
const MOST_NAMES = 4_096
/** Of a task's slug, for instance, which may be anything. */
const LONGEST = 500

/**
 * Hides secrets in names: few texts that come again and again. What is a secret is looked up anew every second, and when another one was taken down: to do
 * so for each name would cost more than all the rest of a span.
 */
export function makeNameHider(clock: Clock): (name: string) => string {
  let madeAt = Number.NEGATIVE_INFINITY
  let secrets = 0
  let hider = makeHider()
  const shown = new Map<string, string>()

  return name => {
    if (clock.now() - madeAt > FRESH_MS || notedSecrets().size !== secrets || shown.size >= MOST_NAMES) {
      madeAt = clock.now()
      secrets = notedSecrets().size
      hider = makeHider()
      shown.clear()
    }
    const known = shown.get(name) ?? hider.hide(name).slice(0, LONGEST)
    shown.set(name, known)
    return known
  }
}
