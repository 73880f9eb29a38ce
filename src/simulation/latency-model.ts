import { FIGURES, FIRST_FILL_FACTOR } from '../emulator/figures.ts'
import { SPREAD } from '../emulator/latency.ts'
import type { SandboxOrigin } from '../runtimes/runtime.ts'

/** Milliseconds by how many of the kind are under way at once: straight lines between the points, and on from the last two. */
export type Points = readonly (readonly [atOnce: number, ms: number])[]

/** What lies between asking the provider for a sandbox and an environment that answers in it, one after the other. */
export interface Path {
  /** Until the sandbox has started: its create, claim or fork. */
  readonly start: Points
  /** Calls that start the environment's server. */
  readonly commandMs: number
  /** Until the server answers. */
  readonly serve: Points
  /** Standard deviation of the whole, as a share of it, beyond what `LatencyModel.spread` of its parts makes. */
  readonly spread: number
}

/** How long a provider takes, and how often it fails. */
export interface LatencyModel {
  /** What it was made from, for people. */
  readonly source: string
  readonly paths: Readonly<Record<SandboxOrigin, Path>>
  /** Standard deviation of one operation, as a share of it. */
  readonly spread: number
  /** From sending a delete until the sandbox is gone. */
  readonly deleteMs: number
  /** The share of creates that fail, by how many are under way. */
  readonly failures: Points
  /** How many times as long as the published ones the provider's own pool takes to be filled again, and to be filled for the first time. */
  readonly refill: { readonly again: number; readonly first: number }
  /** What the engine's machine works on each sandbox until it is ready: one sandbox after the other. */
  readonly hostMs: number
}

const alone = (points: Points): number => points[0]?.[1] ?? 0

const commandMs = alone(FIGURES.session) + alone(FIGURES.exec)

/** The emulator's figures, which are the published ones without what the published client lost. */
export const PUBLISHED_MODEL: LatencyModel = {
  source: 'the published figures',
  paths: {
    cold: { start: FIGURES.create, commandMs, serve: FIGURES.boot, spread: 0 },
    claim: { start: FIGURES.claim, commandMs, serve: FIGURES.boot, spread: 0 },
    fork: { start: FIGURES.fork, commandMs: 0, serve: FIGURES.resume, spread: 0 },
  },
  spread: SPREAD,
  deleteMs: alone(FIGURES.call) + alone(FIGURES.delete),
  failures: [
    [256, 0],
    [512, 0.01],
  ],
  refill: { again: 1, first: FIRST_FILL_FACTOR },
  hostMs: 0,
}

/** Every operation of the paths takes `factor` times as long. */
export function scaleModel(model: LatencyModel, factor: number): LatencyModel {
  const scale = (path: Path): Path => ({
    ...path,
    start: scalePoints(path.start, () => factor),
    commandMs: path.commandMs * factor,
    serve: scalePoints(path.serve, () => factor),
  })
  const { cold, claim, fork } = model.paths
  const { again, first } = model.refill
  return {
    ...model,
    paths: { cold: scale(cold), claim: scale(claim), fork: scale(fork) },
    refill: { again: again * factor, first: first * factor },
  }
}

export const scalePoints = (points: Points, factorAt: (atOnce: number) => number): Points =>
  points.map(([atOnce, ms]) => [atOnce, ms * factorAt(atOnce)] as const)
