import * as assert from 'uvu/assert'
import { makePolicyVersions } from '../../../src/training/loop/policy-versions.ts'
import { suite } from '../../support/suite.ts'

const test = suite('versions of the policy')

test('what several versions put out is as old as the oldest of them, in optimiser steps', () => {
  const policy = makePolicyVersions('base')
  for (const checkpoint of ['one', 'two', 'three']) policy.stepped(checkpoint)
  assert.is(policy.count, 3)
  assert.is(policy.oldest(['three', 'one', 'two'], 9), 1)
  assert.is(policy.oldest(['three', 'base'], 9), 0)
})

test('one that no step of this training made, and none at all, count as told', () => {
  const policy = makePolicyVersions(null)
  policy.stepped('one')
  assert.is(policy.oldest(['somebody else’s'], 0), 0)
  assert.is(policy.oldest([], 1), 1)
})

test.run()
