import { createRequire } from 'node:module'
import type { z } from 'zod'

export type Zod = typeof z

const require = createRequire(import.meta.url)

/** zod, required when it is first wanted: every program names agents, and few have a config to check. Not imported, since `createAgent` does not wait. */
export function zod(): Zod {
  const loaded: typeof import('zod') = require('zod')
  return loaded.z
}

/** A schema that is made when it is first asked for. */
export function lazySchema<Schema>(make: (z: Zod) => Schema): () => Schema {
  let schema: Schema | undefined
  return () => {
    schema ??= make(zod())
    return schema
  }
}
