import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Duplex } from 'node:stream'
import ssh2, { type Client } from 'ssh2'
import type { Clock } from '../clock.ts'
import { quote } from '../quote.ts'
import type { Binding } from './binding.ts'
import { bindingNotUsable, fileNotReadOverWire, fileNotWrittenOverWire, shellClosed, shellLost } from './exec-errors.ts'
import type { CommandOptions, CommandResult, Shell } from './shell.ts'
import { runSshCommand } from './ssh-command.ts'

const PROTOCOL = 'ssh/2'
const LOGIN_MS = 20_000
const CLOSE_MS = 2_000
/** Files travel as the output of `cat`. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * A shell over an `ssh/2` stream, of our environments and of other peers. The host key must be the binding's. Give it a
 * socket without Nagle's delay (`setNoDelay`), or each command costs 40 ms. Rejects with `binding-not-usable` or `shell-lost`.
 */
export async function openSshShell(stream: Duplex, binding: Binding, clock: Clock): Promise<Shell> {
  let client: Client
  try {
    client = await login(stream, binding, clock)
  } catch (error) {
    stream.destroy()
    throw error
  }
  const { cwd } = binding.params
  const ended = new AbortController()
  setMaxListeners(0, ended.signal) // one for each command under way
  client.on('error', error => ended.abort(shellLost(PROTOCOL, error.message)))
  client.once('close', () => ended.abort(shellLost(PROTOCOL, 'the environment ended it')))

  const exec = async (command: string, options: CommandOptions = {}): Promise<CommandResult> => {
    ended.signal.throwIfAborted()
    return runSshCommand(client, command, options, ended.signal, clock)
  }

  return {
    protocol: PROTOCOL,
    cwd: typeof cwd === 'string' ? cwd : '/workspace',
    exec,
    async readFile(path) {
      const result = await exec(`cat -- ${quote(path)}`, { maxOutputBytes: MAX_FILE_BYTES })
      if (result.exitCode !== 0) throw fileNotReadOverWire(path, result.stderr.trim())
      return result.stdout
    },
    async writeFile(path, content) {
      const command = `mkdir -p -- ${quote(posix.dirname(path))} && cat > ${quote(path)}`
      const result = await exec(command, { stdin: content })
      if (result.exitCode !== 0) throw fileNotWrittenOverWire(path, result.stderr.trim())
    },
    async close() {
      ended.abort(shellClosed(PROTOCOL))
      if (stream.closed) return
      const closed = new Promise<void>(resolve => stream.once('close', resolve))
      client.end()
      let cancel = () => {}
      const late = new Promise<void>(resolve => {
        cancel = clock.after(CLOSE_MS, resolve)
      })
      await Promise.race([closed, late])
      cancel()
      stream.destroy()
    },
  }
}

/** Logs in over a stream. The caller ends the client. Rejects as `openSshShell` does. */
export async function login(stream: Duplex, binding: Binding, clock: Clock): Promise<Client> {
  const hostKey = parseHostKey(binding)
  const privateKey = await readClientKey(binding)
  const { user } = binding.params
  const client = new ssh2.Client()
  let refusedHost = false
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(LOGIN_MS, () => fail(shellLost(PROTOCOL, `no login within ${LOGIN_MS} ms`)))
    const fail = (error: unknown) => {
      cancel()
      client.destroy()
      reject(error)
    }
    client.once('ready', () => {
      cancel()
      client.removeAllListeners()
      resolve()
    })
    client.on('error', error => {
      if (refusedHost)
        fail(bindingNotUsable(binding.name, PROTOCOL, 'the server has another key than the binding says'))
      else if ('level' in error && error.level === 'client-authentication')
        fail(bindingNotUsable(binding.name, PROTOCOL, 'the server refused its key; the session may have ended'))
      else fail(shellLost(PROTOCOL, error.message))
    })
    client.once('close', () => fail(shellLost(PROTOCOL, 'cut during the handshake')))
    try {
      client.connect({
        sock: stream,
        username: typeof user === 'string' ? user : 'agent',
        privateKey,
        readyTimeout: 0,
        hostVerifier: (key: Buffer) => {
          refusedHost = !key.equals(hostKey)
          return !refusedHost
        },
      })
    } catch (error) {
      fail(bindingNotUsable(binding.name, PROTOCOL, error instanceof Error ? error.message : String(error)))
    }
  })
  return client
}

function parseHostKey({ name, params }: Binding): Buffer {
  const { host_pubkey: line } = params
  const blob = typeof line === 'string' ? line.trim().split(/\s+/)[1] : undefined
  if (blob === undefined) throw bindingNotUsable(name, PROTOCOL, 'its params hold no host_pubkey')
  return Buffer.from(blob, 'base64')
}

async function readClientKey({ name, params }: Binding): Promise<string> {
  const { client_key: text, client_key_path: path } = params
  if (typeof text === 'string') return text
  if (typeof path !== 'string') throw bindingNotUsable(name, PROTOCOL, 'its params hold no client_key')
  return readFile(path, 'utf8').catch(error => {
    throw bindingNotUsable(name, PROTOCOL, `its client_key_path cannot be read: ${error.message}`)
  })
}
