import { renderTable } from '../report/table.ts'
import { oneLine } from '../report/units.ts'
import { Taskset } from '../taskset/taskset.ts'
import type { Cli } from './cli.ts'
import type { TaskArguments } from './commands/task.ts'
import { withSession } from './task-session.ts'

const TEXT_WIDTH = 56

/** The tasks of a file, or the templates of an environment. */
export async function listTasks(options: TaskArguments, cli: Cli): Promise<void> {
  const { console } = cli
  if (options.tasks !== undefined) {
    const { tasks } = await Taskset.load(options.tasks)
    const rows = tasks.map((task, index) => [String(index), task.slug, task.id, oneLine(JSON.stringify(task.args), 40)])
    await console.print(
      options.json === true
        ? JSON.stringify(tasks)
        : renderTable(['', 'slug', 'template', 'arguments'], rows, { left: [1, 2, 3] }),
    )
    return
  }
  const templates = await withSession(options, cli, async ({ session, signal }) => {
    const found = await session.listTasks(signal)
    await session.end()
    return found
  })
  const rows = templates.map(({ id, description }) => [id, oneLine(description, TEXT_WIDTH)])
  await console.print(
    options.json === true
      ? JSON.stringify(templates)
      : renderTable(['template', 'description'], rows, { left: [0, 1] }),
  )
}
