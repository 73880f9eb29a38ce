import { loadavg } from 'node:os'
import { hasTag, toErrorData } from '../src/errors.ts'
import { makeBenchDirectory } from './directory.ts'
import type { Given } from './given.ts'
import { type HudPython, prepareHud } from './peers/hud/venv.ts'
import { runKernel } from './peers/kernel/run.ts'
import { type Part, type PeersOptions, parsePeersOptions } from './peers/options.ts'
import { runPlain } from './peers/plain.ts'
import type { Progress } from './peers/progress.ts'
import { toRolloutRows } from './peers/rollouts/rows.ts'
import { runRollouts } from './peers/rollouts/run.ts'
import { toSandboxRows } from './peers/sandboxes/rows.ts'
import { runSandboxes } from './peers/sandboxes/run.ts'
import type { BenchRow, BenchTable } from './table.ts'

const HUD_NOTE = `What either side loads and starts before its first rollout or sandbox is not counted. HUD's LocalRuntime serves the environment in the
engine's process, ours in a host process beside it, which "with environment processes" counts; SubprocessRuntime starts a process for each
rollout. "Without certificates" is HUD with an empty store of root certificates: it reads them twice for each sandbox, and how long that
takes is OpenSSL's affair. HUD with the provider's pool is always without.`

/**
 * The same work by ours and by others, on the same machine in the same run, the sides taking turns: the kernel beside actor and
 * pool libraries, the engine beside plain Node and beside HUD's SDK, our Daytona runtime beside HUD's. What cannot be compared is
 * told of on stderr and has a row that says so. Ctrl-C ends all that was started and shows what was done until then.
 */
export async function peersBench({ signal = new AbortController().signal, ...given }: Given): Promise<BenchTable> {
  const options = parsePeersOptions(given)
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  const progress: Progress = { signal, say }
  const loads = [loadOf()]
  const rows: BenchRow[] = []
  const skipped: string[] = []
  const skip = (what: string, error: unknown) => {
    say(`SKIPPED: ${what}: ${toErrorData(error).message}`)
    skipped.push(what)
    rows.push({ name: `${what}: SKIPPED, see stderr`, value: Number.NaN, unit: '', aim: 'measured', met: false })
  }
  const python = await findHud(options, progress, skip)
  for (const part of options.parts) {
    try {
      if (!signal.aborted) rows.push(...(await runPart(part, options, python, progress, skip)))
    } catch (error) {
      if (!signal.aborted) skip(part, error)
    }
    loads.push(loadOf())
  }
  if (signal.aborted) await removeAbandonedDirectories()
  const notes = [
    ...(python === undefined ? [] : [`Compared with ${python.versions}.`, HUD_NOTE]),
    `Load of the machine before and after each part: ${loads.join(', ')}.`,
  ]
  return {
    title: 'peers, side by side',
    rows,
    notes: notes.join('\n'),
    ...(skipped.length === 0 ? {} : { incomplete: `not compared: ${skipped.join(', ')}` }),
  }
}

type Skip = (what: string, error: unknown) => void

/** Making one removes those whose owners have been ended. */
async function removeAbandonedDirectories(): Promise<void> {
  const { remove } = await makeBenchDirectory()
  remove()
}

const loadOf = () => (loadavg()[0] ?? 0).toFixed(2)
const NEEDS_HUD: readonly Part[] = ['rollouts', 'sandboxes']

async function findHud({ parts }: PeersOptions, { signal, say }: Progress, skip: Skip): Promise<HudPython | undefined> {
  if (!parts.some(part => NEEDS_HUD.includes(part))) return undefined
  try {
    return await prepareHud(signal, say)
  } catch (error) {
    if (!hasTag(error, 'hud-missing')) throw error
    if (!signal.aborted) skip("HUD's SDK", error)
    return undefined
  }
}

async function runPart(
  part: Part,
  options: PeersOptions,
  python: HudPython | undefined,
  progress: Progress,
  skip: Skip,
): Promise<readonly BenchRow[]> {
  switch (part) {
    case 'kernel':
      return runKernel(options, progress)
    case 'plain':
      return runPlain(options, progress)
    case 'rollouts':
      return python === undefined ? [] : toRolloutRows(await runRollouts(python, options, progress))
    case 'sandboxes': {
      if (python === undefined) return []
      const { levels, problems } = await runSandboxes(python, options, progress)
      for (const problem of problems) skip(part, new Error(problem))
      return toSandboxRows(levels)
    }
  }
}
