import { TroupeError } from '../../../errors.ts'

export const diskNotMeasured = (name: string, output: string): TroupeError =>
  new TroupeError({
    tag: 'docker-disk-unknown',
    message: `the free disk of the container ${name} cannot be measured: \`df -Pk /\` in it said ${output === '' ? 'nothing' : JSON.stringify(output)}. Use an image that has df, or leave storage_mb out`,
    address: name,
  })

/** Not transient: every container of the engine has the same disk. */
export const tooLittleDisk = (name: string, free: number, wanted: number): TroupeError =>
  new TroupeError({
    tag: 'docker-disk-full',
    message: `runtime_config.resources.storage_mb asks for ${Math.round(wanted / 1024 ** 2)} MiB, and the container ${name} has ${Math.floor(free / 1024 ** 2)} MiB free; make room on the engine's disk, or ask for less`,
    address: name,
    details: { free, wanted },
  })
