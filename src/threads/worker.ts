/** Runs in each thread, as the one task that thread ever has: hosts a system, starts the shard, and ends when told to. */
import { toErrorData } from '../errors.ts'
import type { Actor } from '../kernel/actor.ts'
import type { Ref } from '../kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../kernel/system.ts'
import { noShard } from './errors.ts'
import type { ThreadEnd, ThreadTask, ThreadUp, WardenMessage } from './messages.ts'
import { makePortLink } from './port-link.ts'

export default async function runThread(task: ThreadTask): Promise<ThreadEnd> {
  const system = makeSystem({ node: task.node })
  const connection = system.connect(makePortLink(task.port, { peer: task.parent, uplink: true }))
  try {
    // The warden starts first and so stops last, after everything of the shard's.
    let stop = (): void => {}
    const stopWanted = new Promise<void>(resolve => {
      stop = resolve
    })
    const warden = system.spawn(makeWarden(stop), 'warden')
    const root = await startShard(system, task)
    system.ref<ThreadUp>(task.inbox).tell({ type: 'thread-up', node: task.node, root, warden })
    await Promise.race([stopWanted, system.terminated(root), connection.closed])
    await system.stop()
    return { type: 'stopped' }
  } catch (thrown) {
    await system.stop()
    return { type: 'failed', error: toErrorData(thrown) }
  }
}

function makeWarden(stop: () => void): Actor<undefined, WardenMessage> {
  return {
    name: 'warden',
    initial: () => undefined,
    receive(state, message, context) {
      if (message.type === 'pulse') context.reply(message, true)
      else stop()
      return state
    },
  }
}

async function startShard(system: ActorSystem, task: ThreadTask): Promise<Ref<never>> {
  const entry: unknown = await import(task.entry)
  const start = (entry as { startShard?: unknown }).startShard
  if (typeof start !== 'function') throw noShard(task.entry)
  return await start(system, task.data)
}
