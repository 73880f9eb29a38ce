import { connect } from 'node:net'

/** A server's first line is longer only where it is none. */
const LONGEST_GREETING = 64 * 1024

/** Whether one of the servers that answer says in its greeting that it verifies its clients' certificates. Never rejects. */
export async function asksForCertificate(servers: readonly string[], limitMs: number): Promise<boolean> {
  const greetings = await Promise.all(servers.map(server => readGreeting(server, limitMs)))
  return greetings.some(line => /^INFO \{.*"tls_verify": ?true/.test(line))
}

/** Up to the first end of a line; empty where nobody greets. */
function readGreeting(server: string, limitMs: number): Promise<string> {
  const { hostname, port } = new URL(`http://${server}`)
  return new Promise(resolve => {
    let text = ''
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80, timeout: limitMs })
    const end = () => socket.destroy()
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk
        if (text.includes('\n') || text.length > LONGEST_GREETING) end()
      })
      .on('timeout', end)
      // What is wrong is told by whoever asks for this.
      .on('error', end)
      .on('close', () => resolve(text))
  })
}
