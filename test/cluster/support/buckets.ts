import { Kvm } from '@nats-io/kv'
import { connectNats } from '../../../src/cluster/connect.ts'

/** All that a bucket has, deleted keys left out: of each key its values from the oldest that is kept. */
export async function readBucket<Value>(url: string, name: string): Promise<ReadonlyMap<string, readonly Value[]>> {
  const connection = await connectNats({ urls: url, role: 'observer', name: 'test' })
  try {
    const found = new Map<string, Value[]>()
    for await (const entry of await (await new Kvm(connection).open(name)).history()) {
      if (entry.operation !== 'PUT') found.delete(entry.key)
      else found.set(entry.key, [...(found.get(entry.key) ?? []), entry.json<Value>()])
    }
    return found
  } finally {
    await connection.close()
  }
}
