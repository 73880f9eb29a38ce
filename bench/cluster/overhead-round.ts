import { cpuMsOf, cpuMsOfEnded } from '../engine/proc-stat.ts'
import { treeOf } from '../peers/process-tree.ts'
import type { CountedNats } from './nats.ts'

/** One round, and what it cost. CPU in ms a rollout, of whole processes. */
export interface Round {
  readonly perSecond: number
  /** The process with the journal; threaded, the engine's threads are in it. */
  readonly coordinatorMs: number
  /** The worker's process with its threads; 0 where there is none. */
  readonly workerMs: number
  /** What serves the environment, and the programs that its sandboxes have run. */
  readonly hostMs: number
  readonly natsMs: number
  /** Through the server, in and out, a rollout; and a second. */
  readonly messages: number
  readonly bytes: number
  readonly messagesPerSecond: number
}

export interface RoundPorts {
  /** Returns how many there were. */
  readonly roll: () => Promise<number>
  readonly workerPid: number
  readonly nats: CountedNats
}

/** Rolls out and measures. */
export async function measureRound({ roll, workerPid, nats }: RoundPorts): Promise<Round> {
  const look = async () => ({ cpu: readCpu(workerPid, nats.pid), traffic: await nats.traffic(), at: performance.now() })
  const before = await look()
  const done = await roll()
  const after = await look()
  const wallMs = after.at - before.at
  const each = (part: keyof Cpu) => (after.cpu[part] - before.cpu[part]) / done
  const messages = after.traffic.messages - before.traffic.messages
  return {
    perSecond: (done / wallMs) * 1_000,
    coordinatorMs: each('coordinator'),
    workerMs: each('worker'),
    hostMs: each('hosts'),
    natsMs: each('nats'),
    messages: messages / done,
    bytes: (after.traffic.bytes - before.traffic.bytes) / done,
    messagesPerSecond: (messages / wallMs) * 1_000,
  }
}

type Cpu = Readonly<Record<'coordinator' | 'worker' | 'hosts' | 'nats', number>>

/** Hosts are what the two processes have started. The shells that hold the worker and the server do nothing. */
function readCpu(workerPid: number, natsPid: number): Cpu {
  const [, ...below] = treeOf(process.pid)
  const hosts = below.filter(pid => pid !== workerPid && pid !== natsPid)
  return {
    coordinator: cpuMsOf(process.pid),
    worker: cpuMsOf(workerPid),
    nats: cpuMsOf(natsPid),
    hosts: hosts.reduce((sum, pid) => sum + cpuMsOf(pid) + cpuMsOfEnded(pid), 0),
  }
}
