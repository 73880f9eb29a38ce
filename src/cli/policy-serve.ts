import { join } from 'node:path'
import { startPolicy } from '../policy/host/index.ts'
import type { Cli } from './cli.ts'
import type { PolicyServeArguments } from './commands/policy.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { DEFAULT_BASE, POLICIES_DIRECTORY } from './model-options.ts'
import { findBase } from './open-model.ts'

/** Serves until a signal; the address is on stdout. Rejects with what `startPolicy` does, or `no-base`. */
export async function servePolicy(options: PolicyServeArguments, cli: Cli): Promise<void> {
  const { console } = cli
  const base = findBase(DEFAULT_BASE, options.base)
  let askedToEnd: () => void = () => {}
  const ended = new Promise<undefined>(resolve => {
    askedToEnd = () => resolve(undefined)
  })
  const interrupt = armInterrupt({ onFirst: askedToEnd, onSecond: () => process.exit(EXIT.interrupted) })
  try {
    await using policy = await startPolicy({
      base,
      name: options.name,
      directory: options.directory ?? join(POLICIES_DIRECTORY, options.name),
      port: options.port,
      ...(options.samplers === undefined ? {} : { samplers: options.samplers }),
    })
    await console.print(`TROUPE_POLICY_URL=${policy.url}`)
    console.talk(`${policy.model} is served at ${policy.url}; Ctrl-C ends it`)
    const lost = await Promise.race([ended, policy.lost])
    if (lost !== undefined) {
      cli.tell(lost)
      cli.exitWith(EXIT.failed)
    }
  } finally {
    interrupt.disarm()
  }
}
