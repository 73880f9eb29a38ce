import { type IdSource, randomIds } from '../ids.ts'
import { noteSecret } from '../redact.ts'
import { isLoopbackHost } from '../wire/loopback.ts'
import { dashboardTokenShort } from './errors.ts'

/** Holds the token that a dashboard is to want, where it is not to be made anew each time. */
export const DASHBOARD_TOKEN_VARIABLE = 'TROUPE_DASHBOARD_TOKEN'

const SHORTEST = 16
const TOKEN_BYTES = 16

/** What a dashboard on that host wants: what was given or, beyond loopback, a new one. Throws `dashboard-token-short`. */
export function chooseToken(host: string, given: string | undefined, ids: IdSource = randomIds): string | undefined {
  const token = given?.trim()
  if (token !== undefined && token !== '') {
    if (token.length < SHORTEST) throw dashboardTokenShort(token.length, SHORTEST)
    noteSecret(token)
    return token
  }
  // A new one is to be seen in the address, so it is none of those that are hidden.
  return isLoopbackHost(host) ? undefined : ids.hex(TOKEN_BYTES)
}

/** The same with what the variable holds, which is removed, so that what the command starts does not inherit it. */
export function takeDashboardToken(host: string, variables: Record<string, string | undefined>): string | undefined {
  const given = variables[DASHBOARD_TOKEN_VARIABLE]
  delete variables[DASHBOARD_TOKEN_VARIABLE]
  return chooseToken(host, given)
}
