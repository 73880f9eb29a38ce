/** Hosts of a network of their own, made of Linux network namespaces: gone with the process that made them, however that ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A namespace with one address, cabled to the hub. */
export interface Host {
  readonly name: string
  readonly address: string
  /** What is put before a command to run it there. */
  readonly prefix: readonly string[]
  /** Pulls its cable. What runs there goes on, and hears nothing and is not heard. */
  cut(): Promise<void>
  heal(): Promise<void>
}

export interface Network {
  /** Of the calling process, which is the hub. */
  readonly address: string
  readonly hosts: readonly Host[]
  close(): Promise<void>
}

/** Put before a command: it gets a network of its own, in which there is nothing yet. */
export const OWN_NETWORK = ['unshare', '--net', '--'] as const

const PROGRAMS = ['ip', 'unshare', 'nsenter'] as const
const PLACES = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
const SUBNET = '10.213.0'
const FIRST = 10

/** What keeps this machine from having such hosts, in words; undefined: nothing. Looks by trying. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  const missing = PROGRAMS.filter(program => !PLACES.some(place => existsSync(`${place}/${program}`)))
  if (missing.length > 0) return `${missing.join(', ')} missing: install iproute2 and util-linux`
  const [file, ...argv] = [...OWN_NETWORK, 'ip', 'link', 'add', 'probe', 'type', 'veth', 'peer', 'name', 'peer']
  const bridge = [...OWN_NETWORK, 'ip', 'link', 'add', 'probe', 'type', 'bridge']
  try {
    await run(file, argv)
    await run(file, bridge.slice(1))
    return undefined
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string }
    return `network namespaces with veth and bridge cannot be made here (${stderr?.trim() || String(error)}): it wants root, CAP_NET_ADMIN and CAP_SYS_ADMIN, and the kernel's veth and bridge`
  }
}

/** Makes the calling process the hub of a network with these hosts. Rejects where it was not started with OWN_NETWORK. */
export async function openNetwork(names: readonly string[]): Promise<Network> {
  const { stdout: links } = await run('ip', ['-brief', 'link'])
  if (links.trim().split('\n').length > 1)
    throw new Error(`this process is on a network already, start it by ${OWN_NETWORK.join(' ')}:\n${links}`)
  const address = `${SUBNET}.1`
  await ip('link set lo up')
  await ip('link add hub type bridge')
  await ip(`address add ${address}/24 dev hub`)
  await ip('link set hub up')
  const hosts: (Host & { close(): Promise<void> })[] = []
  for (const [index, name] of names.entries()) hosts.push(await openHost(name, `${SUBNET}.${FIRST + index}`, index))
  return {
    address,
    hosts,
    close: async () => void (await Promise.all(hosts.map(host => host.close()))),
  }
}

async function openHost(name: string, address: string, index: number): Promise<Host & { close(): Promise<void> }> {
  // Holds the namespace until its stdin closes, which it does however this process ends.
  const holder: ChildProcess = spawn('unshare', ['--net', '--', '/bin/sh', '-c', 'echo here; read -r line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const over = once(holder, 'exit')
  if (holder.stdout === null || holder.pid === undefined) throw new Error(`no namespace for ${name}`)
  await once(holder.stdout, 'data')
  const prefix = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--']
  const cable = `cable${index}`
  await ip(`link add ${cable} type veth peer name eth0 netns ${holder.pid}`)
  await ip(`link set ${cable} master hub up`)
  for (const words of ['link set lo up', `address add ${address}/24 dev eth0`, 'link set eth0 up'])
    await run('nsenter', [...prefix.slice(1), 'ip', ...words.split(' ')])
  return {
    name,
    address,
    prefix,
    cut: () => ip(`link set ${cable} down`),
    heal: () => ip(`link set ${cable} up`),
    async close() {
      holder.stdin?.end()
      await over
    },
  }
}

async function ip(words: string): Promise<void> {
  await run('ip', words.split(' '))
}
