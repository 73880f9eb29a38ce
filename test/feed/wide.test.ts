/** 4,096 wide: what a watcher is sent, and what is kept for one, is bounded, and nobody is asked while nobody watches. */
import * as assert from 'uvu/assert'
import { openFeed } from '../../src/feed/open-feed.ts'
import { toGroupId, toRunId } from '../../src/ids.ts'
import { makeLiveBoard } from '../../src/rollout/live.ts'
import { publish } from '../../src/telemetry/channels.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { tellFigures } from '../support/figures.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { groupOf, jobId, jobOf, poolOf } from '../telemetry/metrics/scene.ts'
import { ticksOf, watch } from './scene.ts'

const test = suite('feeds 4,096 wide')
const WIDE = 4_096
/** More than the engine has ever done. */
const ENDED_A_SECOND = 4_000
const SECONDS = 20

test('ticks and the state are bounded, whatever goes on', async () => {
  const clock = new VirtualClock()
  const board = makeLiveBoard(clock)
  let asked = 0
  const feed = openFeed(
    {
      ...jobOf(jobId, () => ({ pool: poolOf() })),
      name: 'wide',
      settings: {},
      async *earlierGroups() {},
      async live(most = WIDE) {
        asked += 1
        return board.list(most)
      },
    },
    { clock },
  )
  const marks = Array.from({ length: WIDE }, (_, at) => board.begin(rollout(at)))
  const end = (at: number) => {
    const place = at % WIDE
    marks[place]?.end()
    marks[place] = board.begin(rollout(at + WIDE))
    publish('run', makeHeader({ jobId, runId: toRunId(`run-0123456789abcdef-${at}`) }))
    if (at % 8 === 0) publish('group', groupOf({ groupId: toGroupId(`group-0123456789abcdef-${at}`) }))
  }
  for (let at = 0; at < ENDED_A_SECOND; at += 1) end(at)
  assert.equal([asked, clock.pending], [0, 0], 'nobody is asked, and no timer set, while nobody watches')

  const { told, messages, stop } = watch(feed)
  for (let quarter = 0; quarter < SECONDS * 4; quarter += 1) {
    for (let at = 0; at < ENDED_A_SECOND / 4; at += 1) end(ENDED_A_SECOND + (quarter * ENDED_A_SECOND) / 4 + at)
    await clock.advance(250)
  }
  const ticks = ticksOf(messages)
  const sizes = told.map(({ text }) => text.length)
  const [state = 0, ...sent] = sizes
  const perSecond = sent.reduce((sum, size) => sum + size, 0) / SECONDS
  const perTick = Math.round((perSecond * SECONDS) / ticks.length)
  tellFigures(
    `a feed ${WIDE} wide, ${ENDED_A_SECOND} rollouts ended a second: ${perTick} bytes a tick, ${Math.max(...sent)} at most, ${Math.round(perSecond)} a second; the state has ${state}`,
  )
  assert.ok(Math.max(...sent) < 600_000, 'no tick is larger than half a megabyte or so')
  assert.ok(perSecond < 1_200_000)
  assert.ok(asked <= SECONDS + 2, `asked ${asked} times: a wide job is asked once a second`)
  for (const { live = [], runs = [] } of ticks) assert.ok(live.length <= 1_024 && runs.length <= 500)
  const { phases } = ticks.at(-1)?.now ?? {}
  assert.is(phases?.provisioning, WIDE, 'all are counted, those too that are not listed')
  stop()
  const late = watch(feed)
  await clock.advance(0)
  assert.ok((late.told[0]?.text.length ?? 0) < 4_000_000)
  late.stop()
  await feed.close()
  assert.is(clock.pending, 0)
})

function rollout(at: number) {
  return {
    runId: toRunId(`run-0123456789abcdef-${at}`),
    groupId: toGroupId(`group-0123456789abcdef-${at >> 3}`),
    slug: 'repair-the-calculator-3',
    step: 0,
    member: at & 7,
    attempt: 1,
  }
}

test.run()
