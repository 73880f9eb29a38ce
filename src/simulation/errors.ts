import { type ErrorData, TroupeError } from '../errors.ts'

/** As the pool hears it from a runtime; nobody reads these. */
export const callOff = (id: string): ErrorData => ({
  tag: 'provision-cancelled',
  message: `the create of ${id} was called off`,
})

export const createFailed = (id: string, atOnce: number): ErrorData => ({
  tag: 'create-failed',
  message: `${id} failed to start, as one of ${atOnce}`,
  transient: true,
})

export function simulationStuck(atMs: number): TroupeError {
  return new TroupeError({
    tag: 'simulation-stuck',
    message: `nothing is left to happen ${Math.round(atMs / 1_000)} s into the simulated job, and it is not over; this is a defect of the simulation`,
  })
}

export function ladderForeign(modes: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-foreign',
    message: `the receipt's modes are ${modes.join(', ')}, and none of them tells how long a sandbox takes to make. Give one with levels of cold, provider-pool or fork.`,
    details: { modes },
  })
}
