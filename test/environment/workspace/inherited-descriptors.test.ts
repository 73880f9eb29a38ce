import { spawnSync } from 'node:child_process'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'

const test = suite('descriptors that were left open')
const HOST = new URL('../../../src/environment/workspace/host.js', import.meta.url).href
const DESCRIPTORS = new URL('../../../src/environment/workspace/inherited-descriptors.js', import.meta.url).href

/** What a program prints that was started with descriptors 200 and 201 open. */
function run(code: string): string {
  const script = `exec 200</etc/passwd 201>&1; exec "$0" --input-type=module -e "$1"`
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', script, process.execPath, code], { encoding: 'utf8' })
  assert.is(stderr, '')
  return stdout
}

test('those of whoever started the host reach no command', () => {
  const printed = run(`
    import { makeWorkspaceHost } from '${HOST}'
    import { inheritedDescriptors } from '${DESCRIPTORS}'
    console.log([200, 201].every(each => inheritedDescriptors().includes(each)))
    const host = makeWorkspaceHost()
    const { workspace } = await host.open('sess-1')
    const { stdout } = await workspace.exec('ls /proc/self/fd /proc/1/fd | grep 20')
    const peer = { argv: ['/bin/sh', '-c', 'ls /proc/self/fd | grep 20; echo over'], files: new Map() }
    const argv = ['/usr/bin/python3', '-c', 'import os; print(os.read(3, 100), sorted(int(each) for each in os.listdir("/proc/self/fd") if int(each) > 2 and os.path.lexists("/proc/self/fd/" + each)))']
    const clean = await workspace.runClean({ argv, files: new Map(), env: {}, collect: [], timeoutMs: 20_000, peer })
    console.log(JSON.stringify([stdout, clean.stdout]))
    await host.close()
  `)
  assert.is(printed, `true\n${JSON.stringify(['', `b'over\\n' [3, 4]\n`])}\n`)
})

test('a host of its own closes them at its start', () => {
  const printed = run(`
    import { closeInheritedDescriptors, inheritedDescriptors } from '${DESCRIPTORS}'
    closeInheritedDescriptors()
    console.log(inheritedDescriptors().length)
  `)
  assert.is(printed, '0\n')
})

test.run()
