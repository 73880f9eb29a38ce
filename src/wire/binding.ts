/** One capability as `hello` announces it. Protocols nobody here knows pass through untouched. */
export interface Binding {
  /** `shell`, `exec`, `browser`: what `tunnel.open` names. */
  readonly name: string
  /** `ssh/2`, `exec/1`, `mcp/2025-11-25`, … */
  readonly protocol: string
  readonly url: string
  readonly params: Readonly<Record<string, unknown>>
}
