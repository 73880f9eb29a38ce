/** The process of a cell whose client works as the published one did. */
import { serveClient } from '../../src/ladder/client/serve-client.ts'
import { openPublishedClient } from './published-client.ts'

const { width, place } = JSON.parse(process.argv[2] ?? '{}')

serveClient(async () => openPublishedClient(width, place))
