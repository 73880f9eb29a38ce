/** A journal that another process writes is followed as it grows; where that process serves its own feed, that one is what is told. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { type FollowedFeed, followJournal } from '../../src/feed/follow-journal.ts'
import type { FeedMessage } from '../../src/feed/messages.ts'
import { feedSocketPath } from '../../src/feed/socket.ts'
import { suite } from '../support/suite.ts'
import { runsOf, statesOf, until, watch } from './scene.ts'
import { startWriter, type Writer } from './writer.ts'

const test = suite('followed journals')
const SLOW = { deadlineMs: 60_000 }

async function following(
  body: (scene: { directory: string; writer: Writer; follow: () => Promise<FollowedFeed> }) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'troupe-follow-'))
  const directory = join(root, 'journal')
  const writer = await startWriter(directory)
  const open: FollowedFeed[] = []
  try {
    await body({
      directory,
      writer,
      async follow() {
        const feed = await followJournal(directory, { pollMs: 20 })
        open.push(feed)
        return feed
      },
    })
  } finally {
    for (const feed of open) await feed.close()
    await writer.kill()
    await rm(root, { recursive: true, force: true })
  }
}

const sourceOf = (messages: readonly FeedMessage[]) =>
  messages.reduce<string | undefined>(
    (source, message) => (message.type === 'state' ? message.job.source : (message.source ?? source)),
    undefined,
  )

test(
  'what is committed is told soon after, once, and a job whose process has ended is over',
  () =>
    following(async ({ writer, follow }) => {
      await writer.tell('run run-a')
      const feed = await follow()
      assert.is(feed.job.jobId, 'job-1')
      const { messages, stop } = watch(feed)
      await until(() => statesOf(messages).length > 0)
      const [state] = statesOf(messages)
      assert.equal([state?.job.source, state?.job.name, state?.runs.length], ['followed', 'calc', 1])
      assert.equal([state?.now.snapshot, state?.now.cost, state?.live], [null, null, []])
      assert.ok((state?.now.rate ?? 0) > 0)
      await writer.tell('run run-b!')
      await until(() => runsOf(messages).size === 2)
      await writer.tell('group x')
      await writer.tell('step 0')
      await writer.tell('step 1')
      await writer.tell('run run-c')
      await until(() => runsOf(messages).size === 3)
      const all = <Item>(pick: (message: FeedMessage) => readonly Item[] | undefined) =>
        messages.flatMap(message => pick(message) ?? [])
      assert.is(all(message => message.groups).length, 1)
      assert.equal(
        all(message => message.chunks).map(({ step, call, groups, loss }) => [step, call, groups, loss]),
        [
          [0, 0, ['group-0-0'], 1],
          [1, 0, ['group-0-0'], 1],
        ],
      )
      const steps = all(message => (message.type === 'state' ? message.training.steps : message.steps))
      assert.equal(
        steps.map(({ step }) => step),
        [0, 1],
      )
      assert.is(all(message => (message.type === 'state' ? [] : message.evaluations)).length, 2)
      assert.equal(
        all(message => message.failures).map(({ kind, count }) => [kind, count]),
        [['sandbox-lost', 1]],
      )
      assert.is(messages.at(-1)?.now.step, 2)
      await writer.end()
      await until(() => sourceOf(messages) === 'over')
      assert.is(runsOf(messages).size, 3)
      stop()
    }),
  SLOW,
)

test(
  'while the engine serves its own feed that one is told; when it ends in order the journal says the rest',
  () =>
    following(async ({ directory, writer, follow }) => {
      await writer.tell('run run-a')
      await writer.tell('socket on')
      const feed = await follow()
      const { messages, stop } = watch(feed)
      await until(() => statesOf(messages).length > 0)
      assert.equal([sourceOf(messages), statesOf(messages)[0]?.runs.length], ['live', 1])
      assert.ok(statesOf(messages)[0]?.now.snapshot !== null, 'an engine has figures that no journal has')
      await writer.tell('run run-b')
      await until(() => runsOf(messages).size === 2)
      await writer.tell('over now')
      await writer.end()
      await until(() => sourceOf(messages) === 'over')
      await until(() => statesOf(messages).length >= 2)
      assert.is(runsOf(messages).size, 2)
      assert.is(existsSync(feedSocketPath(directory)), false)
      stop()
    }),
  SLOW,
)

test(
  'a socket that appears later is found, one that a killed process has left misleads nobody, and the next start replaces it',
  () =>
    following(async ({ directory, writer, follow }) => {
      await writer.tell('run run-a')
      const feed = await follow()
      const { messages, stop } = watch(feed)
      await until(() => sourceOf(messages) === 'followed')
      await writer.tell('socket on')
      await until(() => sourceOf(messages) === 'live')
      await writer.tell('run run-b')
      await until(() => runsOf(messages).size === 2)
      await writer.kill()
      await until(() => sourceOf(messages) === 'over')
      assert.is(runsOf(messages).size, 2, 'what the killed process had told is in its journal')
      assert.is(existsSync(feedSocketPath(directory)), true, 'a killed process removes nothing')
      const again = await startWriter(directory)
      try {
        await again.tell('socket on')
        await until(() => sourceOf(messages) === 'live')
        await again.tell('run run-c')
        await until(() => runsOf(messages).has('run-c'))
      } finally {
        await again.end()
      }
      assert.is(existsSync(feedSocketPath(directory)), false)
      stop()
    }),
  SLOW,
)

test(
  'the job that runs is the one that is followed unasked, and another one is not taken for it',
  () =>
    following(async ({ directory, writer, follow }) => {
      await writer.tell('run run-a')
      await writer.end()
      const second = await startWriter(directory, 'job-2')
      try {
        await second.tell('run run-z')
        await second.tell('socket on')
        const running = await follow()
        assert.is(running.job.jobId, 'job-2')
        const other = await followJournal(directory, {
          pollMs: 20,
          async pick(journal) {
            const [first] = await journal.jobs()
            if (first === undefined) throw new Error('there is a job')
            return first
          },
        })
        const { messages } = watch(other)
        await until(() => statesOf(messages).length > 0)
        assert.equal([sourceOf(messages), [...runsOf(messages).keys()]], ['over', ['run-a']])
        await other.close()
      } finally {
        await second.end()
      }
    }),
  SLOW,
)

test('a journal that is not there, or has no job, says what to do', async () => {
  const root = await mkdtemp(join(tmpdir(), 'troupe-follow-'))
  try {
    const missing = await followJournal(join(root, 'nothing')).catch((error: unknown) => error)
    assert.ok(hasTag(missing, 'journal-missing'))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})

test.run()
