import { MARK } from './places.ts'
import type { ServedSession } from './served.ts'

/** Another session of the same host, with a secret in its workspace and a command that runs, keeps secrets in temporary files and listens. */
export interface Neighbour {
  isRunning(): boolean
  /** Whether it can still run commands. */
  answers(): Promise<boolean>
  close(): Promise<void>
}

const LISTENER = `import os, select, socket
mark = open('/workspace/secret.txt').read()
for path in ('/tmp/theirs', '/dev/shm/theirs', os.path.expanduser('~/theirs')):
    with open(path, 'w') as file: file.write(mark)
listeners = [socket.create_server(('127.0.0.1', 4567))]
for name in ('/tmp/theirs.sock', '\\0theirs'):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen()
    listeners.append(listener)
open('/workspace/ready', 'w').close()
while True:
    for listener in select.select(listeners, [], [])[0]:
        with listener.accept()[0] as client: client.sendall(mark.encode())
`

/** Takes the session over; resolves once its command listens. */
export async function makeNeighbour(session: ServedSession): Promise<Neighbour> {
  const { shell } = session
  const controller = new AbortController()
  await shell.writeFile('secret.txt', `${MARK}-neighbour\n`)
  await shell.writeFile('listener.py', LISTENER)
  let running = true
  const ended = shell.exec('exec /usr/bin/python3 listener.py', { signal: controller.signal }).then(
    () => (running = false),
    () => (running = false),
  )
  // Its last step before it waits. What it may have to say meanwhile would be lost otherwise.
  for (let ready = false; !ready && running; )
    ready = await shell.readFile('ready').then(
      () => true,
      () => false,
    )
  if (!running) throw new Error('the neighbour’s command did not come up')
  return {
    isRunning: () => running,
    answers: async () => (await shell.exec('echo well', { timeoutMs: 20_000 })).stdout === 'well\n',
    async close() {
      controller.abort()
      await ended
      await session.close()
    },
  }
}
