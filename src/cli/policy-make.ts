import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Presets, SingleBar } from 'cli-progress'
import { z } from 'zod'
import { loadModule } from '../modules/load-module.ts'
import { writePolicyFile } from '../policy/policy-file.ts'
import type { DemonstrationSource } from '../policy/warm-up/demonstrations.ts'
import { type WarmUpStep, warmUp } from '../policy/warm-up/warm-up.ts'
import { decimal, duration } from '../report/units.ts'
import type { Cli } from './cli.ts'
import type { PolicyMakeArguments } from './commands/policy.ts'
import { noSuchFile, notDemonstrations, wouldReplace } from './errors.ts'

/** Plain lines of progress, besides the last. */
const LINES = 10

/** `troupe policy make`. Rejects with what is wrong with the input before anything is computed, later with what `warmUp` does. */
export async function makePolicy(path: string, options: PolicyMakeArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  if (!existsSync(path)) throw noSuchFile(path)
  if (existsSync(options.out) && options.force !== true) throw wouldReplace(options.out)
  const source = await loadSource(path)
  const settings = { ...source.settings, ...(options.steps === undefined ? {} : { steps: options.steps }) }
  const startedAt = clock.now()
  const progress = options.quiet === true ? undefined : showSteps(settings.steps, cli)
  const contents = await warmUp(
    { ...source, settings },
    {
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      onStep: step => progress?.step(step),
    },
  ).finally(() => progress?.stop())
  await writePolicyFile(options.out, contents)
  await console.print(`${options.out} is made, in ${duration(clock.now() - startedAt)}`)
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

interface StepsProgress {
  step(step: WarmUpStep): void
  stop(): void
}

function showSteps(steps: number, { console }: Cli): StepsProgress {
  if (!console.interactive) {
    const every = Math.max(1, Math.floor(steps / LINES))
    return {
      step({ step, loss }) {
        if (step % every === 0 || step === steps) console.talk(`step ${step}/${steps}, loss ${decimal(loss, 3)}`)
      },
      stop() {},
    }
  }
  const bar = new SingleBar(
    {
      // cli-progress asks for a socket of its own kind; it only writes.
      stream: console.stderr as NodeJS.WriteStream,
      format: '{bar} {value}/{total} steps, loss {loss}, eta {eta_formatted}',
      barsize: 20,
      hideCursor: true,
      gracefulExit: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  bar.start(steps, 0, { loss: '–' })
  return { step: ({ step, loss }) => bar.update(step, { loss: decimal(loss, 3) }), stop: () => bar.stop() }
}
