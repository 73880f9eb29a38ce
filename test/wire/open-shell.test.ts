import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { hasTag } from '../../src/errors.ts'
import { openShell } from '../../src/wire/open-shell.ts'
import { rejection } from '../contracts/shell.ts'
import { openWorkspace } from '../environment/workspace/open-workspace.ts'
import { suite } from '../support/suite.ts'

const test = suite('opening a shell')
const env = { name: 'calc', version: '1' }

test('exec/1 is preferred, ssh/2 will do, and anything else is no shell', async () => {
  const { bindings, host, closeHost } = await openWorkspace()
  const unknown = { name: 'browser', protocol: 'cdp/1.3', url: '', params: {} }
  const openWith = (protocols: readonly string[]) =>
    openShell(
      {
        env,
        bindings: [unknown, ...[...bindings].reverse().filter(({ protocol }) => protocols.includes(protocol))],
        openTunnel: name => host.connect(name),
      },
      systemClock,
    )
  for (const [protocols, expected] of [
    [['exec/1', 'ssh/2'], 'exec/1'],
    [['ssh/2'], 'ssh/2'],
  ] as const) {
    const shell = await openWith(protocols)
    assert.is(shell.protocol, expected)
    assert.is((await shell.exec('echo up')).stdout, 'up\n')
    await shell.close()
  }
  const error = await rejection(openWith([]))
  assert.ok(hasTag(error, 'no-shell'))
  assert.match(String(error), /calc.*cdp\/1\.3/)
  await closeHost()
})

test.run()
