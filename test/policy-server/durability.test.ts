import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { makeLatch, type Scene, trajectory, withServer } from './scene.ts'
import { unigramBase } from './unigram.ts'

const test = suite('what was accepted')

const inputs = [trajectory(1, [3, 0]), trajectory(0, [4, 0])]
const more = [trajectory(0, [5, 0]), trajectory(1, [6, 0])]

const withDirectory = <Value>(body: (directory: string) => Promise<Value>) =>
  withFiles({}, root => body(join(root, 'policy')))

/** What a killed server leaves: its files as they are at this moment, held by nobody. */
async function imageOf(directory: string): Promise<string> {
  const image = `${directory}-image`
  await rm(image, { recursive: true, force: true })
  await cp(directory, image, { recursive: true })
  await rm(join(image, 'owner'))
  return image
}

const finish = async ({ train }: Scene) => {
  await train('forward-backward', { inputs: more })
  const { body: step } = await train('optim-step', { learning_rate: 0.1 })
  const { body: forward } = await train('forward', { inputs })
  return { step: step.step, logprobs: forward.data.flatMap((each: { logprobs: number[] }) => each.logprobs) }
}

test('survives the death of the server: gradients, call ids, checkpoints and moments', async () => {
  await withDirectory(async directory => {
    const begin = async ({ train }: Scene) => {
      await train('forward-backward', { inputs: more })
      await train('optim-step', { learning_rate: 0.1 })
      await train('forward-backward', { inputs }, { 'x-troupe-call': 'c1' })
    }
    const undisturbed = await withServer({}, async scene => {
      await begin(scene)
      return await finish(scene)
    })
    const image = await withServer({ directory }, async scene => {
      await begin(scene)
      return await imageOf(directory)
    })
    await withServer({ directory: image }, async scene => {
      const { body: state } = await scene.get(`/v1/models/${scene.server.model}/train/state`)
      assert.is(state.step, 1)
      assert.equal(state.accumulated, { calls: 1, datums: 2, call_ids: ['c1'] })
      assert.is((await scene.chat({})).body.system_fingerprint, state.head)
      assert.equal(await finish(scene), undisturbed)
    })
  })
})

test('survives it with substeps too, where the data are kept', async () => {
  await withDirectory(async directory => {
    const body = { loss_fn: 'ppo', num_substeps: 2 }
    const rest = async ({ train }: Scene) => {
      await train('forward-backward', { ...body, inputs: more })
      await train('optim-step', { learning_rate: 0.1 })
      return (await train('forward', { inputs })).body.data
    }
    const undisturbed = await withServer({}, async scene => {
      await scene.train('forward-backward', { ...body, inputs })
      return await rest(scene)
    })
    const image = await withServer({ directory }, async ({ train }) => {
      await train('forward-backward', { ...body, inputs })
      return await imageOf(directory)
    })
    assert.equal(await withServer({ directory: image }, rest), undisturbed)
  })
})

test('is counted once: a second delivery of a call is refused, before the step and after it', async () => {
  await withServer({}, async ({ train, get, server }) => {
    const send = () => train('forward-backward', { inputs }, { 'x-troupe-call': 'step0-chunk1' })
    assert.is((await send()).status, 200)
    const again = await send()
    assert.is(again.status, 409)
    assert.is(again.body.error.code, 'already_counted')
    assert.equal((await get(`/v1/models/${server.model}/train/state`)).body.accumulated, {
      calls: 1,
      datums: 2,
      call_ids: ['step0-chunk1'],
    })
    await train('optim-step', { learning_rate: 0.1 })
    assert.is((await send()).status, 409)
    await train('forward-backward', { inputs }, { 'x-troupe-call': 'step1-chunk0' })
    await train('optim-step', { learning_rate: 0.1 })
    assert.is((await send()).status, 409)
  })
})

test('a call that was refused is not counted, and its id is free', async () => {
  await withServer({}, async ({ train }) => {
    const headers = { 'x-troupe-call': 'c1' }
    const bad = [trajectory(1, [3], -1000), trajectory(0, [3], -1000)]
    assert.is((await train('forward-backward', { inputs: bad }, headers)).status, 422)
    assert.is((await train('forward-backward', { inputs }, headers)).status, 200)
  })
})

test('a caller that dies during its call finds out afterwards whether that was counted', async () => {
  await withServer({}, async ({ train, post, get, server, trainers }) => {
    await train('forward', { inputs })
    const [trainer] = trainers
    assert.ok(trainer)
    const { accumulate } = trainer
    const [held, release] = makeLatch()
    const [started, begun] = makeLatch()
    trainer.accumulate = async (data, loss) => {
      begun()
      await held
      return await accumulate(data, loss)
    }
    const dying = new AbortController()
    const path = `/v1/models/${server.model}/train`
    const call = post(
      `${path}/forward-backward`,
      { inputs },
      { headers: { 'x-troupe-call': 'c1' }, signal: dying.signal },
    )
    call.catch(() => {}) // It is aborted.
    await started
    dying.abort()
    const state = get(`${path}/state`)
    release()
    assert.equal((await state).body.accumulated.call_ids, ['c1'])
  })
})

test('a trainer that dies takes nothing with it that was accepted', async () => {
  await withServer({}, async scene => {
    const { train, trainers } = scene
    await train('forward-backward', { inputs })
    const [first] = trainers
    assert.ok(first)
    const { TroupeError } = await import('../../src/errors.ts')
    first.accumulate = async () => {
      throw new TroupeError({ tag: 'policy-thread-lost', message: 'it ended' })
    }
    assert.is((await train('forward-backward', { inputs: more })).status, 503)
    const after = await finish(scene)
    assert.is(trainers.length, 2)
    assert.equal(
      after,
      await withServer({}, async other => {
        await other.train('forward-backward', { inputs })
        return await finish(other)
      }),
    )
  })
})

test('files that no checkpoint names are removed at the start, and others left alone', async () => {
  await withDirectory(async directory => {
    await withServer({ directory }, async ({ train }) => {
      await train('forward-backward', { inputs })
      await train('optim-step', { learning_rate: 0.1 })
    })
    const kept = await readdir(directory)
    assert.is(kept.filter(name => name.startsWith('gradient-')).length, 0, 'a gradient that was used up is gone')
    for (const name of ['gradient-00.bin', 'checkpoint-00.policy', 'index.json.part', 'notes.txt'])
      await writeFile(join(directory, name), 'x')
    await withServer({ directory }, async () => {})
    assert.equal((await readdir(directory)).sort(), [...kept, 'notes.txt'].sort())
  })
})

test('a directory is refused while another server has it, with another tokenizer, with another base, or when damaged', async () => {
  await withDirectory(async directory => {
    const start = (options = {}) => withServer({ directory, ...options }, async () => {})
    const refused = async (tag: string, options = {}) => {
      try {
        await start(options)
      } catch (error) {
        assert.ok(hasTag(error, tag), String(error))
        return
      }
      assert.unreachable(`${tag} is missing`)
    }
    await withServer({ directory }, () => refused('policy-directory-held'))
    await refused('wrong-tokenizer', { tokenizer: 'another' })
    const base = unigramBase()
    base.weights.logits?.values.set([5], 3)
    await refused('other-base', { base })
    await refused('unknown-model', { name: 'another' })
    await start()
    await writeFile(join(directory, 'index.json'), '{"version":1')
    await refused('checkpoint-damaged')
    await writeFile(join(directory, 'file'), '')
    await refused('policy-directory-unusable', { directory: join(directory, 'file') })
  })
})

test('a step that could not be saved is not made', async () => {
  await withDirectory(async directory => {
    await withServer({ directory }, async ({ train, get, server, chat }) => {
      await train('forward-backward', { inputs })
      const before = (await train('forward', { inputs })).body.data
      await rm(directory, { recursive: true })
      assert.is((await train('optim-step', { learning_rate: 0.1 })).status, 500)
      assert.is((await get(`/v1/models/${server.model}/train/state`)).body.step, 0)
      assert.is((await chat({})).body.system_fingerprint, 'base')
      assert.ok(before.length > 0)
    })
  })
})

test.run()
