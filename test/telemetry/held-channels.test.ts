import { spawn } from 'node:child_process'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'

const test = suite('channels that are held')

const module = new URL('../../src/telemetry/channels.js', import.meta.url).href
/** What nobody listened to is collected, and its clean-up is still to come when somebody subscribes. */
const PROGRAM = `
import { subscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { CHANNELS, publish } from '${module}'
const heard = []
for (const name of Object.keys(CHANNELS)) {
  publish(name, 'early')
  await turn()
  gc()
  subscribe(CHANNELS[name], () => heard.push(name))
  for (let look = 0; look < 5; look += 1) {
    await turn()
    gc()
  }
  publish(name, 'late')
}
console.log(heard.length === Object.keys(CHANNELS).length ? 'all heard' : 'heard ' + heard)`

test('whoever subscribes after an unheard message goes on hearing, whatever is collected meanwhile', async () => {
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  assert.is((await child.stdout.toArray()).join(''), 'all heard\n')
})

test.run()
