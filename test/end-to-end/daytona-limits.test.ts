/** A run that wants far more creates than the account may send. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Emulator, SandboxTimeline } from '../../src/emulator/index.ts'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { SNAPSHOT, withDaytona } from './daytona-scene.ts'
import { repository } from './scene.ts'

const test = suite('the limits of an account, end to end')

/** So that a minute of the emulator's takes 6 s. */
const SPEED = 10
const CREATES_A_MINUTE = 40
const RUNS = 160
const WIDE = 32
const MOST_REFUSED = 4
const FINISHED = 'http.server.response.finish'

test(
  'the run waits for the next window instead of failing, and asks in vain only a few times',
  async () => {
    const answers = countRefusals()
    try {
      await withDaytona(
        {
          speed: SPEED,
          environmentPath: join(repository, 'environments/arith/env.ts'),
          limits: { 'sandbox-create': CREATES_A_MINUTE },
        },
        async ({ scene, emulator, run }) => {
          const rows = Array.from({ length: RUNS }, (_, a) => ({
            env: 'arith',
            id: 'add',
            slug: `t${a}`,
            args: { a, b: 1 },
          }))
          await writeFile(join(scene.directory, 'sums.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
          const { exit, stdout, stderr } = await run([
            ...['eval', 'sums.jsonl', 'scripted', '--agent-config', '{"answer": "1"}', '--all', '--json', '--quiet'],
            ...['--runtime', 'daytona', '--snapshot', SNAPSHOT, '--env', 'environments/arith/env.ts'],
            ...['--max-concurrent', String(WIDE), '--threads', '1', '--retries', '0', '--no-journal'],
          ])
          assert.is(exit, 0, stderr)
          const { runs, pool } = resultOf(stdout)
          assert.equal([runs.graded, pool.created], [RUNS, RUNS])
          assert.equal([emulator.counts.created, emulator.existing()], [RUNS, 0])
          const spent = (await windows(emulator)).filter(creates => creates >= CREATES_A_MINUTE - 1)
          assert.ok(spent.length >= 2, 'the limit is what held it up')
          assert.ok(answers.refused() <= MOST_REFUSED, `${answers.refused()} creates were refused`)
        },
      )
    } finally {
      answers.stop()
    }
  },
  { deadlineMs: 120_000 },
)

/** How many creates each of the emulator's minutes had. One begins with the first create after the one before. */
async function windows({ apiKey, url }: Emulator): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const answer = await fetch(new URL('/emulator/timeline?limit=10000', url), { headers })
  const { items } = (await answer.json()) as { readonly items: readonly SandboxTimeline[] }
  const times = items.flatMap(({ steps }) => steps.slice(0, 1).map(({ startMs }) => startMs)).sort((a, b) => a - b)
  const counts: number[] = []
  let end = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (time >= end) {
      counts.push(0)
      end = time + 60_000 / SPEED
    }
    counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1
  }
  return counts
}

/** How often servers of this process have answered that there were too many requests. */
function countRefusals() {
  let refused = 0
  const count = (message: unknown) => {
    const { response } = message as { readonly response: ServerResponse }
    if (response.statusCode === 429) refused += 1
  }
  subscribe(FINISHED, count)
  return { refused: () => refused, stop: () => void unsubscribe(FINISHED, count) }
}

test.run()
