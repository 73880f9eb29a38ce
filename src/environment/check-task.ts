import { checkArguments } from './arguments.ts'
import type { Environment } from './environment.ts'
import { unknownTemplateProblem } from './errors.ts'

/** Everything that is wrong with a task, before anything is started for it: its template, and each of its arguments. */
export function checkTask({ name, templates }: Environment, id: string, args: unknown): readonly string[] {
  const template = templates.get(id)
  if (template === undefined) return [unknownTemplateProblem(name, id, [...templates.keys()])]
  const checked = checkArguments(template, args)
  return checked.ok ? [] : checked.problems
}
