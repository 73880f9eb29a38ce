import { runServe } from '../environment/serve.ts'
import { describeInsecure, takeToken } from '../environment/serve-token.ts'
import { isExposed } from '../environment/server.ts'
import { formatAddress } from '../wire/address.ts'
import type { Cli } from './cli.ts'
import type { ServeArguments } from './commands/serve.ts'
import { conflictingOptions } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'

/** Serves until a signal, or with `--exit-with-parent` until stdin closes. Says where on stdout, in HUD's own words. */
export async function serve(path: string, options: ServeArguments, cli: Cli): Promise<void> {
  const { console } = cli
  if (options.socket !== undefined && options.host !== undefined)
    throw conflictingOptions('--socket', '--host', 'a socket is a file and has no host')
  const { insecure = false, tokenFile } = options
  const token = await takeToken({ insecure, ...(tokenFile === undefined ? {} : { file: tokenFile }) }, process.env)
  let askedToEnd: () => void = () => {}
  const ended = new Promise<void>(resolve => {
    askedToEnd = resolve
  })
  const server = await runServe({
    path,
    listen:
      options.socket === undefined
        ? { kind: 'tcp', host: options.host ?? '127.0.0.1', port: options.port }
        : { kind: 'unix', path: options.socket },
    insecure,
    isolation: {
      ...(options.unsafeNoIsolation === true ? { isolation: 'none' } : {}),
      ...(options.network === true ? { network: true } : {}),
    },
    onError: error => console.talk(error.message),
    clock: cli.clock,
    ...(token === undefined ? {} : { token }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.traces === undefined ? {} : { traces: options.traces }),
  })
  const interrupt = armInterrupt({ onFirst: askedToEnd, onSecond: () => process.exit(EXIT.interrupted) })
  if (options.exitWithParent === true) process.stdin.on('end', askedToEnd).on('error', askedToEnd).resume()
  const { address, environment } = server
  await console.print(
    address.kind === 'unix' ? `TROUPE_SERVE_SOCKET=${address.path}` : `HUD_SERVE_PORT=${address.port}`,
  )
  console.talk(
    `${environment.name} ${environment.version} is served at ${formatAddress(address)}${token === undefined ? '' : ', to who shows the token'}`,
  )
  if (insecure && isExposed(address)) console.talk(describeInsecure(address))
  try {
    await ended
  } finally {
    await server.close()
    interrupt.disarm()
    process.stdin.destroy()
  }
}
