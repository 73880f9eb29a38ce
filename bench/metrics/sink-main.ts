/** Takes OTLP over HTTP in a process of its own, as a collector is, and counts the spans. Started by sink.ts; ends with its channel. */
import { createServer } from 'node:http'

let spans = 0
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    // Counted by what begins each of them: to read it all as JSON would take this process longer than the engine to write it.
    spans += Buffer.concat(chunks).toString('latin1').split('"spanId":').length - 1
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})

server.listen(0, '127.0.0.1', () => {
  const bound = server.address()
  process.send?.({ port: typeof bound === 'object' && bound !== null ? bound.port : 0 })
})
process.on('message', () => process.send?.({ spans }))
process.on('disconnect', () => {
  server.close()
  server.closeAllConnections()
})
