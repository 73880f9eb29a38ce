import type { NatsConnection } from '@nats-io/transport-node'
import type { DispatcherMessage } from '../../actors/cluster-messages.ts'
import type { LimitPorts } from '../../actors/dispatcher-limits.ts'
import { linkSilent } from '../cluster/errors.ts'
import { openLimitSigns } from '../cluster/limit-signs.ts'
import type { NodeLinks } from '../cluster/node-links.ts'
import type { ActorSystem } from '../kernel/system.ts'

export interface LimitPeersPorts {
  readonly connection: NatsConnection
  /** The coordinator's, and its links. */
  readonly system: ActorSystem
  readonly links: NodeLinks
  /** The coordinator's own dispatcher. */
  readonly tell: (message: DispatcherMessage) => void
  readonly onTrouble: (error: unknown) => void
}

/** The coordinators of other jobs, as a dispatcher hears of them and reaches theirs. */
export function openLimitPeers({ connection, system, links, tell, onTrouble }: LimitPeersPorts): LimitPorts {
  const signs = openLimitSigns(connection, sign => tell({ type: 'limit-sign', sign }), onTrouble)
  return {
    node: system.node,
    tell: signs.tell,
    reach({ node, dispatcher }) {
      links.connect(node)
      return system.ref(dispatcher)
    },
    drop: node => links.drop(node, linkSilent(node)),
    close: signs.close,
  }
}
