import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { type OpenedHost, openWorkspace } from './open-workspace.ts'

const test = suite('workspace isolation')
const LIMITS = {
  cpuSeconds: 10,
  memoryBytes: 512 * 1024 * 1024,
  processes: 24,
  fileBytes: 1024 * 1024,
  diskBytes: 32 * 1024 * 1024,
}
const SECRET = 'TROUPE_TEST_SECRET'

let opened: OpenedHost
const run = (command: string) => opened.workspace.exec(command, { timeoutMs: 20_000 })

test.before(async () => {
  process.env[SECRET] = 'do-not-tell'
  opened = await openWorkspace({ limits: LIMITS })
})
test.after(async () => {
  delete process.env[SECRET]
  await opened.closeHost()
})

test('a command sees its own user, its own directory and a small environment', async () => {
  const { stdout } = await run('id -u; pwd; whoami; hostname; env | cut -d= -f1 | sort | tr "\\n" " "')
  const [uid, cwd, user, hostname, names = ''] = stdout.trim().split('\n')
  assert.equal([uid, cwd, user, hostname], ['1000', '/workspace', 'agent', 'workspace'])
  assert.equal(names.trim().split(' '), [
    'HOME',
    'LANG',
    'LOGNAME',
    'PATH',
    'PWD',
    'SHELL',
    'SHLVL',
    'TERM',
    'USER',
    '_',
  ])
})

test('no secret of the server is anywhere: not in its environment, not in that of another process', async () => {
  const { stdout } = await run('env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"')
  assert.not.match(stdout, /do-not-tell|TROUPE/)
  assert.is((await run('ls -d /proc/[0-9]* | wc -l')).stdout.trim() <= '4', true, 'only its own processes')
})

test('the machine’s private files do not exist', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'troupe-outside-'))
  writeFileSync(join(outside, 'file'), 'secret', { mode: 0o644 })
  try {
    for (const path of ['/root', '/etc/shadow', '/home/node', '/var', '/sys', '/run', '/boot', outside])
      assert.is((await run(`ls -d ${path}`)).exitCode, 2, path)
    assert.not.match((await run('cat /etc/passwd')).stdout, /root/)
  } finally {
    rmSync(outside, { recursive: true })
  }
})

test('another session’s directory is out of reach, by any path', async () => {
  const other = await opened.host.open('sess-other')
  try {
    await other.workspace.write('secret.txt', 'theirs')
    assert.is.not((await run(`cat ${other.workspace.directory}/secret.txt`)).exitCode, 0)
    assert.is((await run('ls -A /workspace /tmp /home/agent')).stdout.includes('secret'), false)
    await run('echo mine > /tmp/mine')
    assert.is((await other.workspace.exec('ls -A /tmp')).stdout, '')
  } finally {
    await other.close()
  }
})

test('writes outside the workspace fail, /tmp and the home excepted', async () => {
  for (const path of ['/x', '/usr/x', '/etc/x', '/bin/x', '/dev/x', '/proc/x'])
    assert.is.not((await run(`echo > ${path}`)).exitCode, 0, path)
  assert.is(
    (await run('echo > /tmp/x && echo > ~/x && echo > x && python3 -c "import tempfile; tempfile.mkstemp()"')).exitCode,
    0,
  )
})

test('there is no network but a loopback interface of its own', async () => {
  const code = 'import socket; print(sorted(name for _, name in socket.if_nameindex()))'
  assert.is((await run(`python3 -c '${code}'`)).stdout, "['lo']\n")
})

test('no capability, no way to more privilege', async () => {
  const { stdout } = await run(
    'grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status; unshare -Ur id 2>&1; su root -c id 2>&1',
  )
  assert.match(stdout, /CapEff:\t0000000000000000/)
  assert.match(stdout, /CapBnd:\t0000000000000000/)
  assert.match(stdout, /NoNewPrivs:\t1/)
  assert.not.match(stdout, /uid=0/)
})

test('a fork bomb hits its limit and leaves the host able to run the next command', async () => {
  const { stdout } = await run(
    'python3 - <<"E"\nimport os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0: time.sleep(30); os._exit(0)\n    n += 1\nexcept OSError: pass\nprint(n)\nE',
  )
  assert.ok(Number(stdout) > 5 && Number(stdout) <= LIMITS.processes, `forked ${stdout}`)
  assert.is((await run('echo fine')).stdout, 'fine\n')
})

test('memory, file size and processor time are bounded', async () => {
  assert.match((await run('python3 -c "b = bytearray(900 * 1024 * 1024)"')).stderr, 'MemoryError')
  assert.is.not((await run('head -c 3000000 /dev/zero > big')).exitCode, 0)
  assert.is((await run('stat -c %s big')).stdout, `${LIMITS.fileBytes}\n`)
  assert.match((await run('ulimit -Ht; ulimit -Hc')).stdout, /^11\n0\n$/)
  assert.is.not((await run('ulimit -Hv unlimited')).exitCode, 0)
})

test('what a command leaves in the background ends with it', async () => {
  await run('(setsid nohup sleep 4321 >/dev/null 2>&1 &); sleep 4321 & disown; echo ok')
  assert.equal(hostProcesses('4321'), [])
})

test('python and pytest work inside', async () => {
  await opened.workspace.write('test_sum.py', 'def test_sum():\n    assert 1 + 1 == 2\n')
  const { exitCode, stdout } = await run('PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 /usr/bin/python3 -m pytest -q test_sum.py')
  assert.is(exitCode, 0, stdout)
  assert.match(stdout, '1 passed')
})

/** Command lines on the host that hold `text`. */
function hostProcesses(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(commandLine)
    .filter(line => line.includes(text))
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // ended between the listing and now
  }
}

test.run()
