import { randomBytes } from 'node:crypto'
import { systemClock } from '../../clock.ts'
import { randomIds } from '../../ids.ts'
import { oneServer } from '../../models/endpoint.ts'
import { makeMemoryBlobs } from '../server/blobs.ts'
import { openDirectoryBlobs } from '../server/directory-blobs.ts'
import { startPolicyServer } from '../server/server.ts'
import { openBase } from './open-base.ts'
import type { PolicyOptions, ServedPolicy } from './options.ts'

const LOOPBACK = '127.0.0.1'
/** Without a directory checkpoints are in memory, of which there is only so much. */
const KEPT_IN_MEMORY = 64

/** Serves a policy from the calling thread; sampling and training have threads of their own. Rejects as `startPolicy` does. */
export async function servePolicy(options: PolicyOptions): Promise<ServedPolicy> {
  const { directory, clock = systemClock } = options
  const base = await openBase(options.base, options.samplers ?? 1)
  const { url, model, close } = await startPolicyServer({
    ...base,
    ...(directory === undefined
      ? { blobs: makeMemoryBlobs(), keep: KEPT_IN_MEMORY }
      : { blobs: await openDirectoryBlobs(directory, clock.wallTime()) }),
    ...(options.name === undefined ? {} : { name: options.name }),
    host: options.host ?? LOOPBACK,
    port: options.port ?? 0,
    clock,
    ids: randomIds,
    randomSeed: () => randomBytes(4).readUInt32LE(),
  })
  return { url, endpoint: oneServer(url), model, close, [Symbol.asyncDispose]: close }
}
