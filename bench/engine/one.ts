/** Measures one case in a process of its own, so that memory and CPU are that case's alone. Prints one line of JSON. */
import type { EngineCase } from './measure.ts'
import { measureEngine } from './one-engine.ts'
import { measurePlain } from './one-plain.ts'

const bench: EngineCase = JSON.parse(process.argv[2] ?? '{}')
const figures = bench.kind === 'plain' ? await measurePlain(bench) : await measureEngine(bench)
console.log(JSON.stringify(figures))
