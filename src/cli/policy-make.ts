import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { loadModule } from '../modules/load-module.ts'
import { writePolicyFile } from '../policy/policy-file.ts'
import type { DemonstrationSource } from '../policy/warm-up/demonstrations.ts'
import { warmUp } from '../policy/warm-up/warm-up.ts'
import { decimal, duration } from '../report/units.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { PolicyMakeArguments } from './commands/policy.ts'
import { noSuchFile, notDemonstrations, wouldReplace } from './errors.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling } from './telling.ts'

/** Steps are alike: a few of them tell how long the others take. */
const TELLS_FROM = 0.02

/** `troupe policy make`. Rejects with what is wrong with the input before anything is computed, later with what `warmUp` does. */
export async function makePolicy(path: string, options: PolicyMakeArguments, cli: Cli): Promise<void> {
  const { clock } = cli
  if (!existsSync(path)) throw noSuchFile(path)
  if (existsSync(options.out) && options.force !== true) throw wouldReplace(options.out)
  const source = await loadSource(path)
  const settings = { ...source.settings, ...(options.steps === undefined ? {} : { steps: options.steps }) }
  const startedAt = clock.now()
  await using telling = closing(openTelling(options, cli))
  const counter = makeCounter({ unit: 'steps', total: settings.steps, clock, tellsFrom: TELLS_FROM })
  const shown = telling.value.show(counter.view)
  const contents = await warmUp(
    { ...source, settings },
    {
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      onStep: ({ loss }) => counter.done([`loss ${decimal(loss, 3)}`]),
    },
  ).finally(() => shown.stop())
  await writePolicyFile(options.out, contents)
  const { shape, made } = contents
  const tookMs = clock.now() - startedAt
  await telling.value.finish(
    { file: options.out, name: contents.name, shape, made, tookMs },
    () => `${options.out} is made, in ${duration(tookMs)}`,
  )
}

/** A module is trusted as far as its functions' results; what they are called with and how many there are is checked here. */
const SOURCE = z.object({
  name: z.string().min(1),
  tools: z.array(z.unknown()),
  settings: z.object({
    width: z.number(),
    heads: z.number(),
    layers: z.number(),
    context: z.number(),
    merges: z.number(),
    steps: z.number(),
    batch: z.number(),
    learningRate: z.number(),
    sharpen: z.number(),
    seed: z.number(),
  }),
  corpus: z.custom(value => typeof value === 'function', 'is no function'),
  draw: z.custom(value => typeof value === 'function', 'is no function'),
})

async function loadSource(path: string): Promise<DemonstrationSource> {
  const { default: source } = await loadModule(pathToFileURL(resolve(path)).href)
  const { success, error } = SOURCE.safeParse(source)
  if (success) return source as DemonstrationSource
  throw notDemonstrations(
    path,
    error.issues.map(issue => `${issue.path.join('.') || 'the default export'}: ${issue.message}`),
  )
}
