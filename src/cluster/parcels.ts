import { Objm } from '@nats-io/obj'
import type { NatsConnection } from '@nats-io/transport-node'
import { trajectoryMissing } from './errors.ts'
import { BUCKETS } from './names.ts'
import { openLate } from './open-late.ts'

/** What a message has beside the trajectory: header, and NATS's own lines. A run's header holds its task, which has a limit of its own. */
const BESIDE_BYTES = 256 * 1024

/** Trajectories that do not fit into a message lie in the object store. */
export interface Parcels {
  /** Bytes that fit into a message, with what goes with them. */
  readonly mostInline: number
  /** Resolves when it lies there. Putting it again replaces it. */
  put(name: string, trajectory: Uint8Array): Promise<void>
  /** Throws `trajectory-missing`. */
  take(name: string): Promise<Uint8Array>
  delete(name: string): Promise<void>
}

/** The store is opened with the first parcel: most jobs have none. */
export function openParcels(connection: NatsConnection): Parcels {
  const mostInline = (connection.info?.max_payload ?? 2 ** 20) - BESIDE_BYTES
  const store = openLate(() => new Objm(connection).open(BUCKETS.trajectories))
  return {
    mostInline,
    async put(name, trajectory) {
      await (await store()).putBlob({ name }, trajectory)
    },
    async take(name) {
      const bytes = await (await store()).getBlob(name)
      if (bytes === null) throw trajectoryMissing(name)
      return bytes
    },
    async delete(name) {
      await (await store()).delete(name)
    },
  }
}
