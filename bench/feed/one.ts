/** Measures all rounds of one width in a process of its own, the kinds taking turns. Prints one line of JSON. */
import { startReader } from './reader.ts'
import { KINDS, type Kind, measureRound, type Round } from './round.ts'

export type Turn = Readonly<Record<Kind, Round>>

const {
  width,
  rollouts,
  turns: wanted,
}: { readonly width: number; readonly rollouts: number; readonly turns: number } = JSON.parse(process.argv[2] ?? '{}')
const reader = startReader()
const turns: Turn[] = []
try {
  // One that is not counted, in which code is compiled.
  await measureRound('watched', width, Math.ceil(rollouts / 4), reader)
  for (let at = 0; at < wanted; at += 1) {
    const rounds: Partial<Record<Kind, Round>> = {}
    // Whichever comes later finds the machine as those before left it: each comes first in turn.
    for (let place = 0; place < KINDS.length; place += 1) {
      const kind = KINDS[(at + place) % KINDS.length] ?? 'without'
      rounds[kind] = await measureRound(kind, width, rollouts, reader)
    }
    const { without, unwatched, watched } = rounds
    if (without !== undefined && unwatched !== undefined && watched !== undefined)
      turns.push({ without, unwatched, watched })
  }
} finally {
  await reader.close()
}
console.log(JSON.stringify(turns))
