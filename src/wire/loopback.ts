/** Whether only this machine reaches what listens on that host. A name other than `localhost` could be any address, and counts as beyond. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
