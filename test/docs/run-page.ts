/** Runs a page from top to bottom, and says at which line it does not do what it says. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from '../../docs/site/page.ts'
import { quote } from '../../src/quote.ts'
import { isShown, toLines } from './console.ts'
import { openClone, openProject, type Place } from './place.ts'
import { planPage, type Shown, type Step } from './plan.ts'
import { findPorts, type Ports } from './ports.ts'
import { toProgram } from './program.ts'
import { type Running, startService } from './services.ts'
import { openShell, type Printed, type Shell } from './shell.ts'

export interface Counts {
  commands: number
  /** Of them, those in whose place something shorter was run. */
  standIns: number
  programs: number
  compared: number
}

/** Most take seconds; where others use the machine, too, they take many. */
const STEP_MS = 240_000

interface Scene {
  readonly path: string
  readonly place: Place
  readonly shell: Shell
  readonly ports: Ports
  readonly running: Running[]
  readonly counts: Counts
}

/** Rejects with the first thing that is wrong. Nothing may be left of it. */
export async function runPage(page: Page): Promise<Counts> {
  const { path } = page
  const { steps, problems } = planPage(page)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const counts: Counts = { commands: 0, standIns: 0, programs: 0, compared: 0 }
  if (!steps.some(each => each.kind !== 'file')) return counts
  const wantsProject = steps.some(step => step.kind === 'start' && step.service === 'package')
  const buildsImages = steps.some(step => step.kind === 'start' && step.service === 'docker')
  const place = wantsProject ? await openProject() : openClone(buildsImages)
  const shell = openShell(join(place.hidden, 'state'), place.directory, place.variables)
  const ports = await findPorts(
    page.blocks.map(({ notes, text }) => [text, ...notes.map(each => each.text)].join('\n')).join('\n'),
  )
  const scene: Scene = { path, place, shell, ports, running: [], counts }
  try {
    for (const step of steps) await perform(step, scene)
    await shell.end()
    await closeAll(scene)
    const left = place.leftovers()
    if (left.length > 0) throw new Error(`${path}: this is left of it: ${left.join(', ')}`)
  } finally {
    await Promise.allSettled([shell.end(), closeAll(scene)])
    // What was just told is not left to whoever runs the tests.
    place.endProcesses()
    await place.remove()
  }
  return counts
}

async function closeAll({ running }: Scene): Promise<void> {
  for (const each of running.splice(0).reverse()) await each.close()
}

async function perform(step: Step, scene: Scene): Promise<void> {
  const { counts, path, place, ports, running, shell } = scene
  const at = `${path}:${step.line}`
  switch (step.kind) {
    case 'start': {
      if (step.service === 'package') return
      const started = await startService(step.service, place)
      running.push(started)
      return shell.set(started.variables)
    }
    case 'file': {
      const file = join(shell.directory(), step.name)
      mkdirSync(dirname(file), { recursive: true })
      const write = step.isAdded ? appendFileSync : writeFileSync
      return write(file, ports.toFree(step.text))
    }
    case 'commands': {
      counts.commands += step.count
      if (step.isStandIn) counts.standIns += step.count
      const script = ports.toFree(step.script)
      if (step.isBackground)
        return shell.start(script, STEP_MS).catch(error => {
          throw new Error(`${at}: ${error.message}`)
        })
      return check(at, script, await shell.run(script, STEP_MS), step.exits, step.shown, scene)
    }
    case 'program': {
      counts.programs += 1
      if (step.isStandIn) counts.standIns += 1
      const file = join(shell.directory(), `.page-${step.line}.${step.language === 'py' ? 'py' : 'mjs'}`)
      writeFileSync(file, toProgram(step.language, ports.toFree(step.text)))
      const script = `${step.language === 'py' ? 'python3' : 'node'} ${quote(file)}`
      return check(at, script, await shell.run(script, STEP_MS), 0, step.shown, scene)
    }
  }
}

function check(
  at: string,
  script: string,
  { both, code, stdout }: Printed,
  exits: number,
  shown: Shown | undefined,
  { counts, path, place, ports }: Scene,
): void {
  const plain = (text: string) => ports.toPage(text).replaceAll(`${place.directory}/`, '')
  if (code !== exits) throw new Error(`${at}: it ended with ${code}, not ${exits}:\n${script}\n${both}`)
  if (shown === undefined) return
  counts.compared += 1
  const printed = { both: plain(both), stdout: plain(stdout) }
  if (isShown(shown, printed)) return
  throw new Error(
    `${path}:${shown.line}: this was printed by ${script}\n${toLines(printed.both, shown).join('\n')}\nand the page shows\n${toLines(shown.text, shown).join('\n')}`,
  )
}
