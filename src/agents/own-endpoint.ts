const VENDORS = ['hud.ai', 'openai.com', 'anthropic.com']

/**
 * Whether an endpoint is the user's own: one that a config names, and none of the services that are asked where it names none. Only such a one is told
 * which trace a request belongs to.
 */
export function isOwnEndpoint(named: string | undefined): boolean {
  if (named === undefined || !URL.canParse(named)) return false
  const { hostname } = new URL(named)
  return !VENDORS.some(vendor => hostname === vendor || hostname.endsWith(`.${vendor}`))
}

/** The headers of a request to a model that say what it is part of. */
export function tracingHeaders(isOwn: boolean, traceparent: string | undefined): Readonly<Record<string, string>> {
  return isOwn && traceparent !== undefined ? { traceparent } : {}
}
