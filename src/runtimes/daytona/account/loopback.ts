/**
 * Whether a URL is of this machine, where the emulator listens. No such call may go through the proxy that HTTP_PROXY names, as axios would have it:
 * to the proxy, `localhost` is another machine.
 */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === '[::1]' || /(^|\.)localhost$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname)
}
