import { badSshCommand } from './errors.ts'

/** Where the provider's SSH gateway listens, and who one is there. */
export interface GatewayAccess {
  readonly host: string
  readonly port: number
  readonly token: string
}

const DEFAULT_PORT = 22

/** Reads `ssh -p 2222 TOKEN@HOST`, with the options in any order. Throws `ssh-access-unreadable`. */
export function parseSshAccess(
  id: string,
  access: { readonly token: string; readonly sshCommand: string },
): GatewayAccess {
  const words = access.sshCommand.trim().split(/\s+/)
  const at = words.findIndex(word => /^-p\d*$/.test(word))
  const portText = at === -1 ? undefined : words[at] === '-p' ? words[at + 1] : words[at]?.slice(2)
  const port = portText === undefined ? DEFAULT_PORT : Number(portText)
  const host = words
    .find(word => word.includes('@'))
    ?.split('@')
    .at(-1)
  if (host === undefined || host === '' || access.token === '' || !(port >= 1 && port <= 65_535))
    throw badSshCommand(id)
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port, token: access.token }
}
