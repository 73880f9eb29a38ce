import { readFile } from 'node:fs/promises'
import { noteSecret } from '../redact.ts'
import { formatAddress, type ListenAddress } from '../wire/address.ts'
import { badServeOption, badToken, tokenNotRead } from './errors.ts'

/** Holds the token of a server, or the one to show to it. */
export const TOKEN_VARIABLE = 'TROUPE_SERVE_TOKEN'

const SHORTEST = 16
const LONGEST = 1_024

export interface TokenSource {
  /** A file that holds the token; goes before the variable. */
  readonly file?: string
  readonly insecure?: boolean
}

/**
 * The token that a server is to want, if any. The variable is removed, so that what the server starts does not inherit it. Rejects with `token-not-read`,
 * `bad-token`, or `bad-serve-option` where `--insecure` stands beside a token.
 */
export async function takeToken(
  { file, insecure }: TokenSource,
  variables: Record<string, string | undefined>,
): Promise<string | undefined> {
  const variable = variables[TOKEN_VARIABLE]
  delete variables[TOKEN_VARIABLE]
  if (file === undefined && variable === undefined) return undefined
  if (insecure === true)
    throw badServeOption(
      `--insecure lets everybody in, and ${file === undefined ? TOKEN_VARIABLE : '--token-file'} does not: leave one of them out`,
    )
  const source = file ?? TOKEN_VARIABLE
  const token = (file === undefined ? (variable ?? '') : await read(file)).trim()
  if (token.length < SHORTEST)
    throw badToken(source, `it has ${token.length} characters, and fewer than ${SHORTEST} are guessed`)
  if (token.length > LONGEST) throw badToken(source, `it is longer than ${LONGEST} characters`)
  if (/\s/.test(token)) throw badToken(source, 'it is more than one word')
  noteSecret(token)
  return token
}

/** What is said at the start of a server that anybody may use. */
export function describeInsecure(address: ListenAddress): string {
  return `--insecure: whoever reaches ${formatAddress(address)} can use this environment and run commands in its workspaces. Nobody is asked for a token.`
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw tokenNotRead(path, error)
  }
}
