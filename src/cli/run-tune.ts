import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasTag } from '../errors.ts'
import {
  drawTuneCurve,
  neighboursOf,
  renderTune,
  type TuneRequest,
  type TuneResult,
  toAdvice,
  tune,
} from '../tune/index.ts'
import type { Verification } from '../tune/verify/verify.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { TuneArguments } from './commands/tune.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling, type Telling } from './telling.ts'
import { measureLive } from './tune-live.ts'
import { toTuneRequest } from './tune-request.ts'

const SPEED = 10
const STEPS = 2

/** `troupe tune`. Throws what is wrong with the input; the exit status tells whether a plan keeps to what was asked. */
export async function runTune(options: TuneArguments, outer: Cli): Promise<void> {
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const { clock, console } = cli
  let request: TuneRequest
  try {
    request = await toTuneRequest(options, () => measureLive(options, telling))
  } catch (error) {
    if (!hasTag(error, 'interrupted')) throw error
    cli.exitWith(EXIT.interrupted)
    return
  }
  const startedAt = clock.now()
  const result = tune(request)
  const { simulations, sandboxes } = result.work
  console.talk(
    `${simulations} simulations of ${sandboxes.toLocaleString('en')} sandboxes in ${((clock.now() - startedAt) / 1_000).toFixed(1)} s`,
  )
  if (options.json !== true) await console.print(renderTune(result))
  const verification = options.verify === true ? await runVerify(result, options, telling) : undefined
  const everything = { ...result, advice: toAdvice(result), verification: verification ?? null }
  const document = `${JSON.stringify(everything, undefined, 2)}\n`
  if (options.json === true) await telling.finish(everything, () => '')
  if (options.out !== undefined) await writeResults(options.out, document, result, cli)
  if (!result.isMet) cli.exitWith(EXIT.failed)
}

async function runVerify(
  result: TuneResult,
  options: TuneArguments,
  telling: Telling,
): Promise<Verification | undefined> {
  const { cli } = telling
  const { console, clock } = cli
  const [{ verify }, { renderVerification }, { toPoolArgument }] = await Promise.all([
    import('../tune/verify/verify.ts'),
    import('../tune/verify/render.ts'),
    import('../tune/candidates.ts'),
  ])
  const { job, seed } = result.request
  const interrupt = armInterrupt({
    onFirst: () => console.need('\nending the emulator; press Ctrl-C again to end at once'),
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const candidates = [result.chosen.candidate, ...neighboursOf(result)]
  // Plans are neighbours, of the same job: one of them tells about how long the others take.
  const counter = makeCounter({ unit: 'plans', total: candidates.length, clock, tellsFrom: 1 / candidates.length })
  counter.begin('measuring what this machine works on a sandbox')
  const shown = telling.show(counter.view)
  let begun = 0
  try {
    const verification = await verify(job, candidates, {
      speed: options.speed ?? SPEED,
      steps: options.verifySteps ?? STEPS,
      seed,
      signal: interrupt.signal,
      onPlan(candidate) {
        if (begun > 0) counter.done()
        begun += 1
        counter.begin(`running ${toPoolArgument(candidate)} against the emulator`)
        console.talk(`running ${toPoolArgument(candidate)} against the emulator`)
      },
    })
    counter.done()
    shown.stop()
    if (options.json !== true) await console.print(`\n${renderVerification(verification)}`)
    return verification
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    cli.exitWith(EXIT.interrupted)
    return undefined
  } finally {
    shown.stop()
    interrupt.disarm()
  }
}

async function writeResults(directory: string, document: string, result: TuneResult, { console }: Cli): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'tune.json'), document)
  await writeFile(join(directory, 'curve.svg'), drawTuneCurve(result))
  console.need(`written: ${join(directory, 'tune.json')}, ${join(directory, 'curve.svg')}`)
}
