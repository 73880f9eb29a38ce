import { makeRandom } from '../../../src/random.ts'
import { LADDER_COLUMNS } from '../../../src/receipts/ladder-columns.ts'
import type { Receipt } from '../../../src/receipts/receipt.ts'

/** Seconds until ready of one alone and of each more at once; and what share of a level is a hit. */
const STRATEGIES = {
  cold: { one: 2.4, more: 0.028, hits: 0, kind: 'colds' },
  'provider-pool': { one: 1.9, more: 0.021, hits: 0, kind: 'claims' },
  prewarm: { one: 0.011, more: 0.001, hits: 1, kind: 'hits' },
  fork: { one: 1.3, more: 0.019, hits: 0, kind: 'forks' },
} as const

interface MadeUp {
  readonly seed?: number
  readonly work?: 'infra' | 'rollout'
  readonly widths?: readonly number[]
  readonly repetitions?: number
  readonly about?: Readonly<Record<string, string>>
}

/** A ladder's receipt with figures such as might be measured; the same seed gives the same. */
export function makeUpLadder({
  seed = 1,
  work = 'infra',
  widths = [1, 8, 32, 128, 256],
  repetitions = 3,
  about = {},
}: MadeUp = {}): Receipt {
  const random = makeRandom(seed)
  const near = (value: number, share = 0.06) => value * (1 + share * (2 * random() - 1))
  const rows = widths.flatMap(n =>
    Array.from({ length: repetitions }, (_, repetition) =>
      Object.entries(STRATEGIES).map(([mode, { one, more, hits, kind }]) => {
        const p50 = near(one + more * n)
        const p95 = p50 * near(1.12)
        const ms = (value: number) => value.toFixed(2)
        const stages = {
          lease: p50 * 800,
          hello: p50 * 200,
          ...(work === 'rollout' ? { start: near(12), agent: near(400), grade: near(230) } : {}),
        }
        const told: Record<string, string> = {
          n: String(n),
          rep: String(repetition + 1),
          mode,
          ok: String(n),
          failed: '0',
          ready_p50_s: p50.toFixed(3),
          ready_p95_s: p95.toFixed(3),
          ready_min_s: (p50 * 0.9).toFixed(3),
          ready_max_s: (p95 * 1.1).toFixed(3),
          spread_s: (p95 * 1.1 - p50 * 0.9).toFixed(3),
          wall_s: (p95 * 1.3 + 0.5).toFixed(3),
          work,
          ready_p99_s: (p95 * 1.05).toFixed(3),
          fill_s: hits === 0 ? '0.0003' : near(3 + 0.03 * n).toFixed(3),
          hit_rate: String(hits),
          [kind]: String(n),
          creates: String(n),
          create_failures: '0',
          leaked: '0',
          engine_cpu_ms: ms(near(9 + 40 / n)),
          fill_cpu_ms: ms(near(8 * n)),
          rss_mib: near(0.08 + 3 / n).toFixed(3),
          rss_peak_mib: ms(near(90 + 0.2 * n)),
          loop_p99_ms: ms(near(2 + n / 40)),
          loop_max_ms: ms(near(4 + n / 20)),
          errors: mode === 'cold' && n === 256 ? 'daytona-429:3 create-failed:1' : '',
        }
        for (const [stage, p50Ms] of Object.entries(stages))
          for (const [share, times] of [
            ['p50', 1],
            ['p95', 1.2],
            ['p99', 1.3],
          ] as const)
            told[`${stage}_${share}_ms`] = ms(p50Ms * times)
        if (work === 'rollout') told.rollouts_per_s = near(n / (p95 * 1.3 + 1)).toFixed(3)
        return told
      }),
    ).flat(),
  )
  return {
    kind: 'ladder',
    about: {
      made: '2026-01-01T00:00:00.000Z',
      troupe: '0.1.0',
      node: 'v20.20.0',
      machine: '2 × Some CPU @ 2.60GHz, 8 GiB, Linux 6.1.0',
      load: '0.40',
      command: `troupe ladder --levels ${widths.join(',')} --repetitions ${repetitions} --strategies cold,provider-pool,prewarm,fork --seed ${seed}`,
      seed: String(seed),
      complete: 'true',
      ...about,
    },
    columns: LADDER_COLUMNS,
    rows,
  }
}
