import ssh2, { type Client } from 'ssh2'

/** A client of the SSH gateway whose name is the token. Rejects when it is not let in. */
export function openThroughGateway(port: number, token: string): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.once('ready', () => resolve(client))
    client.once('error', reject)
    client.connect({ host: '127.0.0.1', port, username: token })
  })
}

/** The line that answers `hello` on a port of the sandbox; undefined while nothing answers there. */
export function sayHello(client: Client, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, channel) => {
      if (error !== undefined) return resolve(undefined)
      let text = ''
      channel.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8')
        if (text.includes('\n')) {
          resolve(text)
          channel.end()
        }
      })
      channel.on('close', () => resolve(text === '' ? undefined : text))
      channel.write('{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
    })
  })
}

/** Opens a session on a port of the sandbox and starts a task in it; the connection stays. Resolves with the task's answer. */
export function startTask(client: Client, port: number, task: string, args: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, channel) => {
      if (error !== undefined) return reject(error)
      let text = ''
      channel.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8')
        const [, answer] = text.split('\n')
        if (answer !== undefined && answer !== '') resolve(answer)
      })
      channel.write('{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
      channel.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tasks.start', params: { id: task, args } })}\n`)
    })
  })
}
