import { type Profiler, Session } from 'node:inspector/promises'
import { mutate } from './mutate.ts'

export interface Exploration {
  readonly executions: number
  /** Inputs that reached what none before them had. */
  readonly corpus: readonly Buffer[]
  /** Blocks reached, of the scripts looked at. */
  readonly blocks: number
}

export interface ExploreOptions {
  /** What is explored. Throws where it has found something. */
  readonly run: (input: Buffer) => void
  readonly seeds: readonly Buffer[]
  /** Whose blocks count, by the URL of their scripts. */
  readonly scripts: RegExp
  readonly executions: number
  readonly random: () => number
}

/**
 * Mutates inputs, keeping each that reaches a block nobody reached before, by V8's own block coverage: the next mutations begin from those. So it gets
 * behind checks that inputs drawn blindly hardly ever pass.
 */
export async function explore({ run, seeds, scripts, executions, random }: ExploreOptions): Promise<Exploration> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    const reached = new Set<string>()
    const corpus: Buffer[] = []
    const tryOne = async (input: Buffer) => {
      run(input)
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const before = reached.size
      for (const block of blocksOf(result, scripts)) reached.add(block)
      if (reached.size > before) corpus.push(input)
    }
    for (const seed of seeds) await tryOne(seed)
    for (let done = seeds.length; done < executions; done += 1) {
      const from = corpus[Math.floor(random() * corpus.length)] ?? Buffer.alloc(1)
      await tryOne(mutate(from, random))
    }
    return { executions: Math.max(executions, seeds.length), corpus, blocks: reached.size }
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
}

/** A block is its place; how often it ran counts by its power of two, so that a loop which turns more often is news, too. */
function* blocksOf(result: readonly Profiler.ScriptCoverage[], scripts: RegExp): Iterable<string> {
  for (const { url, functions } of result) {
    if (!scripts.test(url)) continue
    for (const { ranges } of functions)
      for (const { startOffset, endOffset, count } of ranges)
        if (count > 0) yield `${url} ${startOffset} ${endOffset} ${Math.min(4, Math.floor(Math.log2(count)))}`
  }
}
