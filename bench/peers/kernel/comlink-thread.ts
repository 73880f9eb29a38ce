import { parentPort } from 'node:worker_threads'
import { expose } from 'comlink'
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs'

const doubler = { double: (value: number): number => value * 2 }
export type Doubler = typeof doubler

if (parentPort !== null) expose(doubler, nodeEndpoint(parentPort))
