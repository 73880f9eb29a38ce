import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { PolicyContents } from '../../src/policy/policy-contents.ts'
import { readPolicyFile, writePolicyFile } from '../../src/policy/policy-file.ts'
import { learnTokenizer, makeTokenizer } from '../../src/policy/tokenizer.ts'
import { initWeights } from '../../src/policy/weights.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('policy file')

const text = Array.from({ length: 400 }, (_, i) => `word${i} `).join('')
const tokenizer = learnTokenizer([text, text], 236)
const shape = { vocabulary: makeTokenizer(tokenizer).vocabulary, width: 64, heads: 4, layers: 2, context: 128 }
const base: PolicyContents = {
  name: 'calc',
  shape,
  tokenizer,
  made: { script: 'warm-up', settings: { seed: 1, sharpen: 1.5 } },
  weights: initWeights(shape, 1),
}

test('weights alone are read as they were written, and are shipped in less than a megabyte', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'policy.base')
    await writePolicyFile(path, base)
    assert.equal(await readPolicyFile(path), base)
    assert.is(shape.vocabulary, 507)
    assert.ok((await stat(path)).size < 1_000_000)
    assert.equal(await readdir(directory), ['policy.base'])
  }))

test('a training state is kept whole, with its gradient or without', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'policy')
    const moments = { first: initWeights(shape, 2), second: initWeights(shape, 3), step: 17 }
    for (const training of [moments, { ...moments, gradient: initWeights(shape, 4) }]) {
      await writePolicyFile(path, { ...base, training })
      assert.equal(await readPolicyFile(path), { ...base, training })
    }
  }))

test('a checkpoint of another tokenizer is refused', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'policy')
    await writePolicyFile(path, base)
    const { fingerprint } = makeTokenizer(tokenizer)
    await readPolicyFile(path, { fingerprint })
    const error = await rejection(readPolicyFile(path, { fingerprint: 'another' }))
    assert.ok(hasTag(error, 'wrong-tokenizer'))
    assert.is(error.data.address, path)
  }))

test('what is no policy, or is damaged anywhere, is told so', () =>
  withFiles({ text: 'hello', empty: '' }, async directory => {
    const path = join(directory, 'policy')
    await writePolicyFile(path, base)
    const bytes = await readFile(path)
    const damaged = join(directory, 'damaged')
    for (const name of ['text', 'empty', 'missing'])
      assert.ok(hasTag(await rejection(readPolicyFile(join(directory, name))), 'policy-unreadable'), name)
    for (const place of [3, 15, 19, 40, 5000, bytes.length - 1]) {
      const copy = Buffer.from(bytes)
      copy.writeUInt8(copy.readUInt8(place) ^ 1, place)
      await writeFile(damaged, copy)
      assert.ok(hasTag(await rejection(readPolicyFile(damaged)), 'policy-unreadable'), `${place}`)
    }
    for (const length of [bytes.length - 1, 100, 20]) {
      await writeFile(damaged, bytes.subarray(0, length))
      assert.ok(hasTag(await rejection(readPolicyFile(damaged)), 'policy-unreadable'), `${length}`)
    }
  }))

test('what cannot be written leaves the old file, and nothing else', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'policy')
    await writePolicyFile(path, base)
    const wrong = { ...base, weights: initWeights({ ...shape, width: 32 }, 1) }
    assert.ok(hasTag(await rejection(writePolicyFile(path, wrong)), 'wrong-shape'))
    assert.equal(await readPolicyFile(path), base)
    assert.equal(await readdir(directory), ['policy'])
  }))

test.run()

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}
