import { aboutMachine } from '../receipts/about.ts'
import { LADDER_COLUMNS } from '../receipts/ladder-columns.ts'
import type { Receipt } from '../receipts/receipt.ts'
import type { Level } from './level.ts'
import { toLevelRow } from './level-row.ts'

const COLUMNS =
  '*_s in seconds, *_ms in milliseconds; ready is from asking until hello was answered; engine_cpu_ms of one sandbox or rollout, rss_mib of one concurrent one; percentiles of one repetition each'

/**
 * The levels so far as a receipt. `about` is what else one needs to make the same again: the command, the seed, where the sandboxes came from. `problems`
 * are why it is not complete.
 */
export function toLadderReceipt(
  levels: readonly Level[],
  about: Readonly<Record<string, string>>,
  problems: readonly string[],
): Receipt {
  const complete = problems.length === 0 ? 'true' : `false: ${problems.join('; ').replaceAll(/\s+/g, ' ')}`
  return {
    kind: 'ladder',
    about: { ...aboutMachine(), ...about, complete, columns: COLUMNS },
    columns: LADDER_COLUMNS,
    rows: levels.map(toLevelRow),
  }
}
