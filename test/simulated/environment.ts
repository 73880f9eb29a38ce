import { PassThrough } from 'node:stream'
import { TroupeError } from '../../src/errors.ts'
import type { Address } from '../../src/wire/address.ts'
import type { ControlClient, ControlSession, GradeFrame } from '../../src/wire/session.ts'
import type { GradeBook } from './grade-book.ts'
import type { Cuts, SimulatedNode } from './node.ts'
import { cutsOf, type SimulatedProvider } from './provider.ts'
import type { RolloutFaults } from './scenario.ts'
import type { World } from './world.ts'

interface EnvironmentPorts {
  readonly world: World
  readonly node: SimulatedNode
  readonly provider: SimulatedProvider
  readonly grades: GradeBook
  readonly faults: RolloutFaults
}

/** The way from one thread to environments in simulated sandboxes. Calls take drawn times, fail, hang, and are cut when the sandbox dies. */
export function simulatedClient(ports: EnvironmentPorts): ControlClient {
  const { world, node, provider, faults } = ports
  return {
    async connect(address, { signal, sessionId, deadlineMs }) {
      const id = idOf(address)
      provider.visit(id, sessionId)
      await node.wait(world.duration(faults.callMs), `connects to ${id}`, { signal })
      const box = provider.reach(id)
      if (box === undefined || world.chance(faults.lostCalls)) {
        await node.wait(deadlineMs, `gives up on ${id}`, { signal })
        throw new TroupeError({ tag: 'connect-timeout', message: `${id} does not answer` })
      }
      return session(ports, id, cutsOf(box, node))
    },
    close: async () => {},
  }
}

function session({ world, node, provider, grades, faults }: EnvironmentPorts, id: string, cuts: Cuts): ControlSession {
  let group = -1

  async function call(what: string, signal: AbortSignal | undefined): Promise<void> {
    const lost = new TroupeError({ tag: 'session-lost', message: `${id} answers no more` })
    if (provider.reach(id) === undefined) throw lost
    const isHung = world.chance(faults.hungCalls)
    const ms = isHung ? Number.POSITIVE_INFINITY : world.duration(faults.callMs)
    await node.wait(ms, `${what} at ${id}`, { signal, cuts })
    if (provider.reach(id) === undefined || world.chance(faults.lostCalls)) throw lost
    if (world.chance(faults.failedCalls)) throw new TroupeError({ tag: 'remote-error', message: `${what} threw` })
  }

  return {
    sessionId: `sess-${id}`,
    env: { name: 'simulated', version: '1' },
    bindings: [],
    multiplexed: false,
    carry() {},
    listTasks: async () => [],
    async startTask(_task, args, signal) {
      await call('starts', signal)
      group = Number(args.index)
      return { prompt: `do ${group}` }
    },
    async grade(answer, signal): Promise<GradeFrame> {
      await call('grades', signal)
      if (world.chance(faults.badGrades))
        return world.chance(0.5) ? { score: Number.NaN } : { score: 0, isError: true, content: 'the grader threw' }
      return { score: grades.give({ group, seed: seedOf(answer) }) }
    },
    cancelTask: async () => {},
    park: async () => {},
    async end() {
      if (provider.reach(id) === undefined) return false
      const isHung = world.chance(faults.hungCalls)
      await node.wait(isHung ? 20_000 : world.duration(faults.callMs), `says goodbye to ${id}`)
      return !isHung && provider.reach(id) !== undefined
    },
    openTunnel: async () => new PassThrough(),
    abort: () => world.note(`${node.name} cuts ${id}`),
  }
}

function idOf(address: Address): string {
  return address.kind === 'unix' ? address.path.slice('/run/'.length) : ''
}

function seedOf(answer: unknown): number | undefined {
  return typeof answer === 'object' && answer !== null && 'seed' in answer ? Number(answer.seed) : undefined
}
