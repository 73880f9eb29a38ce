/** comlink ships types for this module under another ending only. */
declare module 'comlink/dist/esm/node-adapter.mjs' {
  import type { MessagePort, Worker } from 'node:worker_threads'
  import type { Endpoint } from 'comlink'
  export default function nodeEndpoint(thread: MessagePort | Worker): Endpoint
}
