import { lackOfOpenFiles } from '../runtimes/open-files.ts'
import { tooManyDescriptors } from './errors.ts'

/** Throws `ladder-descriptors` where the widest level needs more open files than a process may have. Nothing is known where the system does not tell. */
export function checkDescriptors(widths: readonly number[], runtime: string, limit?: number): void {
  const widest = Math.max(...widths)
  const lack = lackOfOpenFiles(widest, runtime, limit)
  if (lack !== undefined) throw tooManyDescriptors(widest, lack.needed, lack.limit, lack.fits)
}
