import * as assert from 'uvu/assert'
import { fromSharedAgent, toSharedAgent, toSharedPath } from '../../src/cluster/places.ts'
import { suite } from '../support/suite.ts'

const test = suite('places of files')

test('what lies below the working directory is named from there on, and anything else as it is', () => {
  assert.is(toSharedPath('/work/here/environments/a/env.ts', '/work/here'), 'environments/a/env.ts')
  assert.is(toSharedPath('env.ts', '/work/here'), 'env.ts')
  assert.is(toSharedPath('/work/hereabouts/env.ts', '/work/here'), '/work/hereabouts/env.ts')
  assert.is(toSharedPath('../env.ts', '/work/here'), '/work/env.ts')
})

test('an agent that is a module is found at the same place of another directory', () => {
  const agent = {
    kind: 'module',
    url: 'file:///work/here/my%20agents/a.ts',
    exportName: 'default',
    config: {},
  } as const
  const shared = toSharedAgent(agent, '/work/here')
  assert.equal(fromSharedAgent(shared, '/srv/there'), { ...agent, url: 'file:///srv/there/my%20agents/a.ts' })
  const elsewhere = { ...agent, url: 'file:///opt/a.ts' }
  assert.equal(fromSharedAgent(toSharedAgent(elsewhere, '/work/here'), '/srv/there'), elsewhere)
  const scripted = { kind: 'scripted', config: {} } as const
  assert.equal(fromSharedAgent(toSharedAgent(scripted, '/work'), '/srv'), scripted)
})

test.run()
