import { join, relative } from 'node:path'
import { repository } from '../../support/source-imports.ts'
import { type Keys, makeKeys } from './keys.ts'
import { type Nats, type NatsOptions, startNats } from './nats.ts'

const USERS = join(repository, 'deploy/nats/users.conf')

export interface Secured {
  readonly nats: Nats
  readonly keys: Keys
}

/** A server with TLS and the users of `deploy/nats/users.conf` as it stands. The keys are made in `directory`. */
export async function startSecuredNats(
  directory: string,
  options: Omit<NatsOptions, 'config' | 'variables' | 'scheme'> = {},
): Promise<Secured> {
  const keys = await makeKeys(join(directory, 'keys'))
  const nats = await startNats({
    ...options,
    config: place =>
      [
        `tls { cert_file: "${keys.cert}", key_file: "${keys.key}" }`,
        // The server takes every path for one from its own file on.
        `include "${relative(place, USERS)}"`,
      ].join('\n'),
    variables: keys.variables,
    scheme: 'tls',
  })
  return { nats, keys }
}
