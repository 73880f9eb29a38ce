import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { AgentSpec } from '../../../src/agents/agent.ts'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { until } from '../../end-to-end/scene.ts'
import { takeFootprint, whatRemains } from './remains.ts'
import { AGENT, ARRIVE, ENVIRONMENT } from './sources.ts'

/** Where a fault can strike. `serving`: a host that is about to serve. */
export type Place = 'serving' | 'connecting' | 'starting' | 'agent' | 'grading' | 'cleanup'

/** What is done there, by whoever arrives; see sources.ts. `wait`: it waits until `go`, for what is done from outside. */
export type Act =
  | 'exit'
  | 'throw'
  | 'reject'
  | 'spin'
  | 'freeze'
  | 'memory'
  | 'kill-engine'
  | 'kill-host'
  | 'stop-host'
  | 'wait'

/** One fault of a schedule: at the k-th arrival of the whole job, or whenever a task comes there. */
export type Moment = { readonly phase: Place; readonly act: Act } & (
  | { readonly arrival: number }
  | { readonly task: number }
)

/** A directory with the suite's environment and agent, a schedule of faults, and a temporary directory in which all that is left is seen. */
export interface FaultScene {
  readonly directory: string
  readonly temporary: string
  readonly environment: string
  readonly journal: string
  agent(config?: Readonly<Record<string, unknown>>): AgentSpec
  /** Which moments of the schedule have come. */
  struck(): readonly string[]
  /** Whether something waits for what is to be done from outside. */
  waits(): boolean
  /** Lets it go on. */
  go(): void
}

/** Names processes that belong to a scene. */
export const MARK = 'TROUPE_FAULT_SCENE'
const LEFT_MS = 10_000

/** Runs `body`, and then looks that nothing is left of it: no process, socket, handle, timer, file or directory. */
export async function withFaultScene<Value>(
  schedule: readonly Moment[],
  body: (scene: FaultScene) => Promise<Value>,
): Promise<Value> {
  const before = takeFootprint()
  const scene = await openScene(schedule)
  const outer = process.env.TMPDIR
  process.env.TMPDIR = scene.temporary
  process.env[MARK] = scene.directory
  try {
    const value = await body(scene)
    const remains = () => whatRemains(before, scene)
    await until(
      () => remains().length === 0,
      () => `nothing left; there is: ${remains().join('; ')}`,
      LEFT_MS,
    )
    assert.is(scene.struck().length > 0 || schedule.length === 0, true, 'the fault has struck')
    return value
  } finally {
    scene.go()
    if (outer === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = outer
    delete process.env[MARK]
    await rm(scene.directory, { recursive: true, force: true })
  }
}

async function openScene(schedule: readonly Moment[]): Promise<FaultScene> {
  const directory = await mkdtemp(join(tmpdir(), 'faults-'))
  await chmod(directory, 0o711)
  await mkdir(join(directory, 't'), { mode: 0o711 })
  const files = { 'arrive.mjs': ARRIVE, 'env.ts': ENVIRONMENT, 'agent.mjs': AGENT }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  await writeFile(join(directory, 'schedule.json'), JSON.stringify(schedule))
  return placeAt(directory)
}

/** A scene that somebody else has made, as a child sees it. */
export function placeAt(directory: string): FaultScene {
  const struck = () => readdirSync(directory).filter(name => name.startsWith('struck-'))
  return {
    directory,
    temporary: join(directory, 't'),
    environment: join(directory, 'env.ts'),
    journal: join(directory, 'journal'),
    agent: config => createAgent(join(directory, 'agent.mjs'), config),
    struck,
    waits: () => struck().some(name => readFileSync(join(directory, name), 'utf8') === 'wait'),
    go: () => writeFileSync(join(directory, 'go'), ''),
  }
}
