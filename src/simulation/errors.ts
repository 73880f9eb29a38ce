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

export function ladderColumns(path: string, missing: readonly string[], found: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-columns',
    address: path,
    message: `${path} is no receipt of a ladder: it has no column ${missing.join(', ')} (it has ${found.slice(0, 8).join(', ') || 'none'}). Give one that \`npm run bench -- daytona --out FILE\` wrote, or a CSV with the columns n, mode, ready_p50_s and ready_p95_s.`,
    details: { missing, found },
  })
}

export function ladderCell(path: string, row: number, column: string, found: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-cell',
    address: path,
    message: `${path}: row ${row}, column ${column} is "${found}", which is no such figure. Mend that line, or leave it out with a # in front.`,
    details: { row, column, found },
  })
}

export function ladderEmpty(path: string): TroupeError {
  return new TroupeError({
    tag: 'ladder-empty',
    address: path,
    message: `${path} has no level in which a sandbox became ready, so nothing can be fitted to it. Give another receipt, or none to use the published figures.`,
  })
}

export function ladderForeign(modes: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-foreign',
    message: `the receipt's modes are ${modes.join(', ')}, and none of them tells how long a sandbox takes to make. Give one with levels of cold, provider-pool or fork.`,
    details: { modes },
  })
}
