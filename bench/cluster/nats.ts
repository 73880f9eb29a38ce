import { type Nats, type NatsOptions, startNats } from '../../test/cluster/support/nats.ts'

/** What a server has had to do so far, by its own count: messages and bytes from its clients and to them. */
export interface NatsTraffic {
  readonly messages: number
  readonly bytes: number
}

/** nats-server on loopback that tells its counts. */
export interface CountedNats {
  readonly nats: Nats
  readonly url: string
  readonly pid: number
  traffic(): Promise<NatsTraffic>
}

/** One server on a port that the system chose, in a directory of its own. Rejects where nats-server is missing. */
export async function startCountedNats(options: NatsOptions = {}): Promise<CountedNats> {
  const nats = await startNats({ ...options, config: 'http: "127.0.0.1:-1"' })
  const place = nats.log.flatMap(line => /Starting http monitor on (\S+)/.exec(line)?.[1] ?? []).at(0)
  const pid = nats.servers[0]?.pid
  if (place === undefined || pid === undefined) {
    await nats.close()
    throw new Error(`nats-server told no place of its counts:\n${nats.log.join('\n')}`)
  }
  return { nats, url: nats.urls.join(','), pid, traffic: () => readTraffic(`http://${place}/varz`) }
}

async function readTraffic(url: string): Promise<NatsTraffic> {
  const counts: unknown = await (await fetch(url)).json()
  const of = (name: string): number => {
    const value = (counts as Readonly<Record<string, unknown>>)[name]
    if (typeof value !== 'number') throw new Error(`${url} has no ${name}`)
    return value
  }
  return { messages: of('in_msgs') + of('out_msgs'), bytes: of('in_bytes') + of('out_bytes') }
}
