/** Debian's nats-server for a test, alone or as a cluster of three: on ports that the system chose, in a directory of its own, gone with the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface NatsOptions {
  /** Three servers that are one cluster. Default: one alone. */
  readonly cluster?: 3
  /** Where they listen, one for each server. Default 127.0.0.1 for all. */
  readonly hosts?: readonly string[]
  /** What else the configuration of each says, in the server's own language: users, permissions, TLS; for the directory that it is written to. */
  readonly config?: string | ((directory: string) => string)
  /** What that reads by `$NAME`. */
  readonly variables?: Readonly<Record<string, string>>
  /** The address's scheme. Default `nats`; `tls` where the configuration has certificates. */
  readonly scheme?: 'nats' | 'tls'
  /** False: without JetStream. */
  readonly jetStream?: boolean
  /** The largest message, in bytes. Default: the server's own, 1 MiB. */
  readonly maxPayload?: number
  /** Puts a command before the server's own: `ip netns exec NAME`. One for each server. */
  readonly prefixes?: readonly (readonly string[])[]
}

export interface NatsServer {
  /** As JetStream names a leader: `s1`. */
  readonly name: string
  readonly url: string
  /** Of the server itself, for signals: SIGSTOP, SIGKILL. Undefined while it is down. */
  readonly pid: number | undefined
  /** Ends it without a word, as a power cut does. Resolves when it is gone. What it stored stays. */
  kill(): Promise<void>
  /** Starts it anew with what it stored, on the same port. Resolves when it listens. */
  start(): Promise<void>
}

export interface Nats extends AsyncDisposable {
  /** Of all servers, in their order. */
  readonly urls: string[]
  readonly servers: readonly NatsServer[]
  /** Where their configurations are, and what they store. */
  readonly directory: string
  /** Lines that the servers have logged so far. */
  readonly log: readonly string[]
  /** Ends all servers and removes what they stored. */
  close(): Promise<void>
}

/** Debian's, unless TROUPE_NATS_SERVER names another. */
export const NATS_PROGRAM = process.env.TROUPE_NATS_SERVER ?? '/usr/sbin/nats-server'
const START_MS = 15_000
const MOST_TRIES = 3

/**
 * Holds one server. Its stdin closes however the test's process ends, kill -9 too: the server is ended then and its directory removed, and the one that
 * holds them all if this was the last. It leads a group of its own, so that what ends the test's group does not end it before it has cleaned up.
 */
const KEEPER = `
directory=$1; shift
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
echo "server $server" >&2
(while read -r line <&3; do :; done; kill -KILL $server) &
watcher=$!
trap '' TERM INT HUP PIPE
wait $server
kill $watcher 2>/dev/null
echo ended >&2
cat <&3 >/dev/null
rm -rf "$directory"
rmdir "$(dirname "$directory")" 2>/dev/null
exit 0
`

interface Place {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly clusterPort: number
  readonly directory: string
  readonly prefix: readonly string[]
}

/** Starts them and waits until JetStream answers. Rejects with what the server logged where that fails. */
export async function startNats(options: NatsOptions = {}): Promise<Nats> {
  if (!existsSync(NATS_PROGRAM))
    throw new Error(`${NATS_PROGRAM} is missing: run \`node scripts/prerequisites.mjs --nats\``)
  for (let tries = 1; ; tries += 1) {
    const nats = await prepare(options)
    try {
      await Promise.all(nats.servers.map(server => server.start()))
      if (nats.servers.length > 1 && options.jetStream !== false) await nats.led()
      return nats
    } catch (error) {
      await nats.close()
      // Between the choice of a port and its use somebody else may have taken it.
      const isTaken = error instanceof Error && error.message.includes('address already in use')
      if (!isTaken || tries === MOST_TRIES) throw error
    }
  }
}

async function prepare(options: NatsOptions): Promise<Nats & { led(): Promise<void> }> {
  const { cluster: count = 1, hosts = [], prefixes = [], scheme = 'nats' } = options
  const root = await mkdtemp(join(tmpdir(), 'troupe-nats-'))
  // Those of hosts that are not this one are free, as nobody else is there.
  const ports = await choosePorts(2 * count)
  const places = Array.from({ length: count }, (_, index): Place => {
    const name = `s${index + 1}`
    return {
      name,
      host: hosts[index] ?? '127.0.0.1',
      port: ports[2 * index] ?? 0,
      clusterPort: ports[2 * index + 1] ?? 0,
      directory: join(root, name),
      prefix: prefixes[index] ?? [],
    }
  })
  const log: string[] = []
  const led = makeSignal()
  const onLine = (line: string) => {
    log.push(line)
    if (/JetStream cluster new metadata leader|Self is new JetStream cluster metadata leader/.test(line)) led.resolve()
  }
  const kept = places.map(place => keep(place, toConfig(place, places, options), options.variables ?? {}, onLine))
  const servers = kept.map(({ server }, index) => {
    const { host, port } = places[index] ?? { host: '', port: 0 }
    return Object.assign(server, { url: `${scheme}://${host}:${port}` })
  })
  const close = async () => {
    await Promise.all(kept.map(each => each.close()))
    await rm(root, { recursive: true, force: true })
  }
  return {
    urls: servers.map(server => server.url),
    servers,
    directory: root,
    log,
    led: () => withDeadline(led.promise, () => `no leader of JetStream within ${START_MS} ms:\n${log.join('\n')}`),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function toConfig(
  place: Place,
  all: readonly Place[],
  { config = '', jetStream = true, maxPayload }: NatsOptions,
): string {
  const others = all.filter(({ name }) => name !== place.name)
  return [
    `server_name: ${place.name}`,
    `listen: "${place.host}:${place.port}"`,
    ...(maxPayload === undefined ? [] : [`max_payload: ${maxPayload}`]),
    ...(jetStream ? [`jetstream { store_dir: "${join(place.directory, 'store')}", max_file_store: 2GB }`] : []),
    ...(others.length === 0
      ? []
      : [
          'cluster {',
          '  name: test',
          `  listen: "${place.host}:${place.clusterPort}"`,
          `  routes: [${others.map(({ host, clusterPort }) => `"nats://${host}:${clusterPort}"`).join(', ')}]`,
          '}',
        ]),
    typeof config === 'string' ? config : config(place.directory),
  ].join('\n')
}

/** One server, which may be started again and again. */
function keep(
  place: Place,
  config: string,
  variables: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): { readonly server: Omit<NatsServer, 'url'>; close(): Promise<void> } {
  const keepers: { readonly child: ChildProcess; readonly over: Promise<void> }[] = []
  let pid: number | undefined
  let ended = makeSignal()
  ended.resolve()

  async function start(): Promise<void> {
    await mkdir(place.directory, { recursive: true })
    const path = join(place.directory, 'server.conf')
    await writeFile(path, config)
    const argv = ['-c', KEEPER, 'keeper', place.directory, ...place.prefix, NATS_PROGRAM, '-c', path]
    const env = { ...process.env, ...variables }
    const child = spawn('/bin/sh', argv, { stdio: ['pipe', 'ignore', 'pipe'], detached: true, env })
    keepers.push({ child, over: new Promise(resolve => child.once('close', () => resolve())) })
    const ready = makeSignal()
    const lines: string[] = []
    const gone = makeSignal()
    ended = gone
    createInterface({ input: child.stderr }).on('line', line => {
      const [, own] = /^server (\d+)$/.exec(line) ?? []
      if (own !== undefined) pid = Number(own)
      else if (line === 'ended') {
        pid = undefined
        gone.resolve()
        ready.reject(new Error(`nats-server ended:\n${lines.join('\n')}`))
      } else {
        lines.push(line)
        onLine(`${place.name} ${line}`)
        if (line.includes('Server is ready')) ready.resolve()
      }
    })
    await withDeadline(ready.promise, () => `nats-server was not ready within ${START_MS} ms:\n${lines.join('\n')}`)
  }

  return {
    server: {
      name: place.name,
      get pid() {
        return pid
      },
      start,
      async kill() {
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
        await ended.promise
      },
    },
    async close() {
      for (const { child } of keepers) child.stdin?.destroy()
      await Promise.all(keepers.map(({ over }) => over))
    },
  }
}

/** Ports that nobody listens on, chosen together so that they differ. */
async function choosePorts(count: number): Promise<readonly number[]> {
  const holders = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    holders.map(
      holder =>
        new Promise<number>((resolve, reject) => {
          holder.once('error', reject)
          holder.listen(0, '127.0.0.1', () => {
            const address = holder.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all(holders.map(holder => new Promise(resolve => holder.close(resolve))))
  return ports
}

function makeSignal(): { readonly promise: Promise<void>; resolve(): void; reject(error: Error): void } {
  let resolve = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {}) // Whoever waits hears it; that nobody waits is no failure.
  return { promise, resolve, reject }
}

async function withDeadline(promise: Promise<void>, say: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(say())), START_MS)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
