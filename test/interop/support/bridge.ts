/**
 * What a container of the stand-in runs to have HUD's server in it: starts the program of its arguments, and leads the socket that stands for the published
 * port to the one on which that says it serves. Ends with it.
 */
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'

const [program = '', ...given] = process.argv.slice(2)
const child = spawn(program, given, { stdio: ['ignore', 'pipe', 'inherit'] })
child.once('exit', code => process.exit(code ?? 1))
createInterface({ input: child.stdout }).on('line', line => {
  process.stdout.write(`${line}\n`)
  const port = /^HUD_SERVE_PORT=(\d+)$/.exec(line)?.[1]
  if (port !== undefined) lead(process.env.STAND_IN_SOCKET, Number(port))
})

function lead(socket: string | undefined, port: number): void {
  createServer({ allowHalfOpen: true }, outer => {
    const inner = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    // A connection that breaks at one end is over at the other, too.
    pipeline(outer, inner, () => undefined)
    pipeline(inner, outer, () => undefined)
  }).listen(socket)
}
