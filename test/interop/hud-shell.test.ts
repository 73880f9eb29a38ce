/** HUD's own shell client, asyncssh with what it is given, at the `ssh/2` capability of an environment that `troupe serve` serves. */
import { z } from 'zod'
import { directionSuite } from './support/direction.ts'
import { type Hud, type HudClient, openHud } from './support/hud.ts'
import { type Served, serveOursArgv, sourceOf, startServed } from './support/places.ts'

const { test, check } = directionSuite("HUD's client -> our environments", "HUD's shell client in our workspaces")

let hud: Hud
let served: Served
let client: HudClient

test.before(async () => {
  hud = await openHud()
  served = await startServed(serveOursArgv(sourceOf('environments/desk.ts')))
  client = await hud.connect(served.url)
})

test.after(async () => {
  await client?.close()
  await served?.process.stop()
  await hud?.end()
})

const result = z.object({ stdout: z.string(), stderr: z.string(), status: z.number().nullable() })

const run = (command: string, options: object = {}, of: HudClient = client) =>
  hud.ask(result, 'shell_run', { client: of.number, command, ...options })

test('a command runs in a login shell, with its outputs apart and its exit status', async () => {
  check.equal(await run('echo one; echo two >&2; exit 7'), { stdout: 'one\n', stderr: 'two\n', status: 7 })
  check.equal(await run('pwd; shopt -q login_shell && echo login'), {
    stdout: '/workspace\nlogin\n',
    stderr: '',
    status: 0,
  })
  check.is((await run('kill -9 $$')).status, 137)
  check.is((await run('no-such-program')).status, 127)
})

test('what is given to a command is its input, to the end', async () => {
  const text = 'ä line\n'.repeat(50_000)
  check.equal(await run('wc -c', { given: text }), { stdout: `${Buffer.byteLength(text)}\n`, stderr: '', status: 0 })
})

test('long output arrives whole, and what is no text does not break it', async () => {
  const { stdout } = await run('seq 1 200000')
  check.is(stdout.length, 1_288_895)
  check.ok(stdout.endsWith('\n200000\n'))
  check.is((await run("printf 'a\\377b'")).stdout, 'a\uFFFDb')
})

test('files are written and read as they are, whatever they are called', async () => {
  for (const [path, text] of [
    ['plain.txt', 'one\ntwo\n'],
    ["it's a name.txt", ''],
    ['ünïcode/../日本.txt', 'Grüße, 你好 😀\n'],
    ['long.txt', 'x'.repeat(300_000)],
    ['-n', 'not an option'],
  ] as const) {
    if (path.includes('/')) await run('mkdir -p ünïcode')
    await hud.ask(z.null(), 'shell_write', { client: client.number, path, text })
    check.equal(await hud.ask(z.unknown(), 'shell_read', { client: client.number, path }), { text })
  }
  await run("printf '\\000\\377\\n' > bytes")
  check.is(await hud.ask(z.string(), 'shell_read_bytes', { client: client.number, path: 'bytes' }), '00ff0a')
})

test('a file that is not there is refused with what the shell says', async () => {
  const refused = z.object({ refused: z.string(), status: z.number() })
  const { refused: why, status } = await hud.ask(refused, 'shell_read', { client: client.number, path: 'nowhere.txt' })
  check.match(why, /nowhere\.txt: No such file/)
  check.is(status, 1)
})

test('a directory is listed', async () => {
  await run('mkdir -p listed/inner; touch listed/b listed/.a')
  check.equal(await hud.ask(z.array(z.string()), 'shell_list', { client: client.number, path: 'listed' }), [
    '.a',
    'b',
    'inner',
  ])
})

test('commands of one connection run beside each other', async () => {
  // Each waits for the other: one after the other they would never end.
  const commands = ['mkfifo meet; echo a > meet; echo done', 'until [ -p meet ]; do :; done; cat meet']
  check.equal(await hud.ask(z.array(z.string()), 'shell_together', { client: client.number, commands }), [
    'done\n',
    'a\n',
  ])
})

test('a command that takes longer than it may is ended', async () => {
  check.is((await run('sleep 1000', { timeout: 0.3 })).status, null)
  const { stdout } = await run('for f in /proc/[0-9]*/cmdline; do tr "\\0" " " < $f; echo; done')
  check.not(stdout.includes('sleep 1000'))
})

test('a terminal has the size that was asked for, takes what is typed, and is the command’s own', async () => {
  const screen = z.object({ screen: z.string(), status: z.number() })
  const ask = (command: string, keys = '') =>
    hud.ask(screen, 'shell_terminal', { client: client.number, command, keys, columns: 91, rows: 33 })
  check.equal(await ask('stty size; tty -s && echo terminal; exit 3'), { screen: '33 91\r\nterminal\r\n', status: 3 })
  const typed = await ask('read -r line; echo "said $line" > /dev/tty', 'hello\n')
  check.match(typed.screen, 'said hello')
  check.is((await ask('echo $TERM')).screen, 'xterm\r\n')
})

test('a shell whose connection breaks is opened again by its client, in the same workspace', async () => {
  await run('echo kept > kept.txt')
  check.is(await hud.ask(z.string(), 'shell_cut', { client: client.number }), 'again\n')
  check.is((await run('cat kept.txt')).stdout, 'kept\n')
})

test('each session has a workspace of its own, which its key alone opens', async () => {
  const other = await hud.connect(served.url)
  try {
    await run('echo mine > mine.txt')
    check.is((await run('ls -A', {}, other)).stdout, '')
    const keys = [client, other].map(({ welcome }) => welcome.bindings.map(({ params }) => params.client_key).join())
    check.ok(keys[0] !== keys[1])
  } finally {
    await other.close()
  }
})

test.run()
