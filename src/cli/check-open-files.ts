import { lackOfOpenFiles } from '../runtimes/open-files.ts'
import type { ProvisionPlan, Runtime } from '../runtimes/runtime.ts'
import { tooFewOpenFiles } from './errors.ts'

/** Throws `too-few-open-files` where sandboxes may be more than the limit on open files can hold: a run would find out half way. */
export function checkOpenFiles({ sandboxes }: ProvisionPlan, { name }: Pick<Runtime, 'name'>, limit?: number): void {
  const lack = lackOfOpenFiles(sandboxes, name, limit)
  if (lack !== undefined) throw tooFewOpenFiles(sandboxes, lack)
}
