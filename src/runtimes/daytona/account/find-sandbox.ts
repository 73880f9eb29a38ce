import type { SandboxApi, Sandbox as SandboxDto } from '@daytona/api-client'
import type { Account } from './account.ts'
import { callDaytona, ifThere } from './call.ts'

/** Of one call: a time limit, a signal. */
type CallOptions = NonNullable<Parameters<SandboxApi['getSandbox']>[3]>

/** By its id, or by its name, which we choose. Undefined where none is there. Rejects when the provider does not tell. */
export function findSandbox(
  { sandboxes }: Pick<Account, 'sandboxes'>,
  idOrName: string,
  options?: Pick<CallOptions, 'signal' | 'timeout'>,
): Promise<SandboxDto | undefined> {
  const ask = () => sandboxes.getSandbox(idOrName, undefined, undefined, options)
  return ifThere(callDaytona(`look for the sandbox ${idOrName}`, ask))
}
