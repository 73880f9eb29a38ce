import type { Duplex } from 'node:stream'
import ssh2, { type Client, type ClientChannel } from 'ssh2'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { bindingOf, type OpenedHost, openWorkspace } from './open-workspace.ts'

const test = suite('workspace over ssh, with a terminal')
let opened: OpenedHost
let client: Client

test.before(async () => {
  opened = await openWorkspace()
  const { user, client_key } = bindingOf(opened, 'ssh/2').params
  const sock: Duplex = await opened.host.connect('shell')
  client = new ssh2.Client()
  await new Promise<void>((resolve, reject) => {
    client.once('ready', () => resolve()).once('error', reject)
    client.connect({ sock, username: String(user), privateKey: String(client_key) })
  })
})
test.after(async () => {
  client.end()
  await opened.closeHost()
})

test('an interactive shell has a terminal of the size asked for, job control, and follows its changes', async () => {
  const screen = await openScreen(done => client.shell({ cols: 91, rows: 33, term: 'xterm' }, done))
  screen.channel.write('PS1=; echo "size=$(stty size)"; test -t 0 && echo "tty=$?"; echo "term=$TERM"\n')
  await screen.until('size=33 91')
  await screen.until('tty=0')
  await screen.until('term=xterm')
  screen.channel.setWindow(40, 120, 0, 0)
  screen.channel.write('echo "now=$(stty size)"\n')
  await screen.until('now=40 120')
  screen.channel.write('sh -c "echo go; exec sleep 50"\n')
  await screen.until('\rgo\r')
  screen.channel.write('\x03')
  // The interrupt throws away what was typed ahead, so the next line waits for the next prompt.
  await screen.until('^C\r\n\x1b[?2004h')
  screen.channel.write('echo "after=$?"\n')
  await screen.until('after=130')
  assert.not.match(screen.text(), 'no job control')
  screen.channel.write('exit 4\n')
  assert.is(await screen.exit, 4)
})

test('a command may have a terminal, and ends when its channel closes', async () => {
  const screen = await openScreen(done => client.exec('test -t 0 && echo yes; exec sleep 77', { pty: true }, done))
  await screen.until('yes')
  screen.channel.close()
  await screen.exit
  await opened.workspace.exec('true')
})

interface Screen {
  readonly channel: ClientChannel
  readonly exit: Promise<number | undefined>
  text(): string
  until(part: string): Promise<void>
}

function openScreen(
  start: (done: (error: Error | undefined, channel: ClientChannel) => void) => void,
): Promise<Screen> {
  return new Promise((resolve, reject) =>
    start((error, channel) => {
      if (error !== undefined) return reject(error)
      let text = ''
      let check = () => {}
      channel.on('data', (data: Buffer) => {
        text += data.toString('utf8')
        check()
      })
      let code: number | undefined
      channel.on('exit', (exitCode: number) => {
        code = exitCode
      })
      resolve({
        channel,
        exit: new Promise(done => channel.once('close', () => done(code))),
        text: () => text,
        until: part =>
          new Promise(done => {
            check = () => {
              if (text.includes(part)) done()
            }
            check()
          }),
      })
    }),
  )
}

test.run()
