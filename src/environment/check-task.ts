import type { Task } from '../taskset/task.ts'
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

/** The same of many, each problem with its task's slug before it. */
export function checkTasks(environment: Environment, tasks: readonly Task[]): readonly string[] {
  return tasks.flatMap(({ env, id, args, slug }) =>
    env === environment.name
      ? checkTask(environment, id, args).map(problem => `${slug}: ${problem}`)
      : [`${slug}: belongs to the environment "${env}", but this is "${environment.name}"`],
  )
}
