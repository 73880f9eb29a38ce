/**
 * Uses what packages with install scripts are there for, in a process that cannot load what those scripts compile: `<directory>`. Prints what
 * worked, and what was refused, as one line of JSON.
 */
import { connect, createServer } from 'node:net'
import { systemClock } from '../../src/clock.ts'
import type { SshKeyPair } from '../../src/environment/workspace/ssh-keys.ts'

const [directory = '.'] = process.argv.slice(2)
const COMPILED = /node_modules\/(cpu-features|lmdb|msgpackr-extract|protobufjs|ssh2)\/.*\.node$/
const refused: string[] = []

const load = process.dlopen
process.dlopen = (module: object, filename: string, ...rest: number[]) => {
  if (COMPILED.test(filename)) {
    refused.push(filename)
    throw new Error(`${filename} is not to be loaded`)
  }
  return Reflect.apply(load, process, [module, filename, ...rest])
}

// From here on, so that they find the loader as it is now.
const { openLmdbJournal } = await import('../../src/journal/lmdb-journal.ts')
const { packTrajectory, unpackTrajectory } = await import('../../src/rollout/pack.ts')
const { makeHeader, makeTrajectory } = await import('../journal/fixtures.ts')
const { generateSshKeyPair, toHostKey } = await import('../../src/environment/workspace/ssh-keys.ts')
const { default: ssh2 } = await import('ssh2')

const journal = await tryJournal()
const message = tryCodec()
const shell = await tryShell(generateSshKeyPair('host'))
process.stdout.write(JSON.stringify({ journal, message, shell, refused }))

async function tryJournal(): Promise<string> {
  const opened = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
  try {
    const header = makeHeader()
    await opened.putRun(header, packTrajectory(makeTrajectory()))
    const found = await opened.run(header.runId)
    return found === undefined ? 'lost' : 'kept'
  } finally {
    await opened.close()
  }
}

function tryCodec(): string {
  const { turns } = unpackTrajectory(packTrajectory(makeTrajectory(3)))
  return turns.length === 3 && turns[0]?.tokens?.output instanceof Uint32Array ? 'read' : 'garbled'
}

/** A command over ssh on loopback, with keys, key exchange and ciphers as they come. */
async function tryShell(hostKey: SshKeyPair): Promise<string> {
  const server = new ssh2.Server({ hostKeys: [toHostKey(hostKey, ssh2)] }, connection => {
    connection.on('authentication', context => context.accept())
    connection.on('error', () => {}) // the client is gone: it has what it wanted
    connection.on('session', accept =>
      accept().on('exec', acceptCommand => {
        const channel = acceptCommand()
        channel.write('answered')
        channel.exit(0)
        channel.end()
      }),
    )
  })
  const listener = createServer(socket => server.injectSocket(socket))
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  const client = new ssh2.Client()
  try {
    return await new Promise<string>((resolve, reject) => {
      client.on('error', reject)
      client.on('ready', () =>
        client.exec('hello', (error, channel) => {
          if (error !== undefined) return reject(error)
          let text = ''
          channel.on('data', (data: Buffer) => {
            text += data
          })
          channel.on('close', () => resolve(text))
        }),
      )
      client.connect({ sock: connect(address.port, '127.0.0.1'), username: 'someone' })
    })
  } finally {
    client.end()
    listener.close()
  }
}
