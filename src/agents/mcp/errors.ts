import { TroupeError } from '../../errors.ts'

/** Transient: a fresh sandbox has a server of its own. */
export function mcpLost(name: string, why: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'mcp-lost',
      address: name,
      message: `the environment's MCP server "${name}" does not answer: ${why}. Check that it runs in the sandbox and serves the URL of its binding.`,
      transient: true,
    },
    cause,
  )
}

export function mcpNotUsable(name: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'binding-not-usable',
    address: name,
    message: `the capability "${name}" (mcp) cannot be used: ${why}.`,
  })
}
