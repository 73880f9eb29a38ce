/** A training service that reads bodies and answers without looking at them, in a process of its own. */
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () =>
    response.setHeader('content-type', 'application/json').end('{"metrics":{"loss:sum":0},"num_datums":1280}'),
  )
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.on('disconnect', () => process.exit())
