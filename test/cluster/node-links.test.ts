import * as assert from 'uvu/assert'
import { pack } from '../../src/cluster/codec.ts'
import { connectNats } from '../../src/cluster/connect.ts'
import { nodeSubject } from '../../src/cluster/names.ts'
import { type NodeLinks, openNodeLinks } from '../../src/cluster/node-links.ts'
import type { TroupeError } from '../../src/errors.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Question, Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'
import { startNats } from './support/nats.ts'

const test = suite('links between nodes')

interface Add extends Question<number> {
  readonly numbers: readonly number[]
  readonly bytes?: Uint8Array
}

const adder: Actor<null, Add> = {
  name: 'adder',
  initial: () => null,
  receive(state, message, context) {
    const { numbers, bytes = [] } = message
    context.reply(
      message,
      [...numbers, ...bytes].reduce((sum, each) => sum + each, 0),
    )
    return state
  },
}

interface Node {
  readonly system: ActorSystem
  readonly links: NodeLinks
  readonly adder: Ref<Add>
  readonly errors: unknown[]
  /** Publishes as anybody could. */
  publish(subject: string, bytes: Uint8Array): void
  flush(): Promise<void>
}

/** Two nodes with an actor each, of which the second has not heard of the first. */
async function withNodes(body: (one: Node, other: Node) => Promise<void>): Promise<void> {
  await using nats = await startNats()
  const opened: (() => Promise<void>)[] = []
  const open = async (name: string): Promise<Node> => {
    const connection = await connectNats({ urls: nats.urls, role: 'worker', name, files: {} })
    const system = makeSystem({ node: name })
    const errors: unknown[] = []
    let sides = 0
    const links = openNodeLinks(
      connection,
      system,
      () => {
        sides += 1
        return `${name}-${sides}`
      },
      error => errors.push(error),
    )
    opened.push(async () => {
      await system.stop()
      links.close()
      await connection.close()
    })
    // The server has its subscription.
    await connection.flush()
    return {
      system,
      links,
      adder: system.spawn(adder),
      errors,
      publish: (subject, bytes) => connection.publish(subject, bytes),
      flush: () => connection.flush(),
    }
  }
  try {
    await body(await open('worker-one'), await open('job-two'))
  } finally {
    for (const close of opened.reverse()) await close()
  }
}

const nobody = { adder: { address: 'nobody/adder#1' } }
const add = (from: Node, to: { readonly adder: { readonly address: string } }, message: Add): Promise<number> =>
  from.system.ask(from.system.ref<Add>(to.adder.address), message, 5_000)

test('an actor of another node answers, and large binaries come whole, both ways', () =>
  withNodes(async (one, other) => {
    one.links.connect('job-two')
    assert.is(await add(one, other, { numbers: [1, 2] }), 3)
    assert.is(await add(one, other, { numbers: [], bytes: new Uint8Array(100_000).fill(2) }), 200_000)
    assert.is(await add(other, one, { numbers: [4, 5] }), 9, 'over the link that the first began')
  }))

test('what is lost on the way takes the link down on both sides, watchers hear it, and it can begin anew', () =>
  withNodes(async (one, other) => {
    one.links.connect('job-two')
    assert.is(await add(one, other, { numbers: [1] }), 1)
    const gone = one.system.terminated(one.system.ref<Add>(other.adder.address))
    // A frame with a number that is not next, as if those before it had been lost.
    const frame = { from: 'worker-one', side: 'worker-one-1', to: '', number: 99, bytes: pack({}), attachments: [] }
    one.publish(nodeSubject('job-two'), pack(frame))
    const reason = await gone
    assert.is(reason.type, 'link-down')
    one.links.connect('job-two')
    assert.is(await add(one, other, { numbers: [7] }), 7)
  }))

test('a node that was there before under the same name is not taken for the one that is', () =>
  withNodes(async (one, other) => {
    one.links.connect('job-two')
    assert.is(await add(one, other, { numbers: [1] }), 1)
    // A late frame of an earlier side: it is refused, and the link stays.
    const late = { from: 'worker-one', side: 'earlier', to: '', number: 5, bytes: pack({}), attachments: [] }
    one.publish(nodeSubject('job-two'), pack(late))
    await one.flush()
    assert.is(await add(one, other, { numbers: [2] }), 2)
  }))

test('what is no frame is told and heard by nobody; an unknown node is not reached', () =>
  withNodes(async (one, other) => {
    one.publish(nodeSubject('job-two'), new Uint8Array([1, 2, 3]))
    one.links.connect('job-two')
    assert.is(await add(one, other, { numbers: [3] }), 3)
    assert.is(other.errors.length, 1)
    assert.is(await add(one, nobody, { numbers: [] }).catch((error: TroupeError) => error.tag), 'link-down')
  }))

test.run()
