import { createInterface } from 'node:readline/promises'
import { type Synced, type SyncTarget, TasksetSync } from '../platform/sync-taskset.ts'
import { replaceFile } from '../replace-file.ts'
import { renderTable } from '../report/table.ts'
import type { Task } from '../taskset/task.ts'
import { Taskset } from '../taskset/taskset.ts'
import type { Cli } from './cli.ts'
import type { SyncArguments } from './commands/sync.ts'
import { conflictingOptions, missingOption } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling, type Telling } from './telling.ts'

/** Of each kind, in the plan that a person reads. */
const MOST_SHOWN = 20

/** `troupe sync`: prints the plan first, and changes nothing before it is confirmed. */
export async function runSync(tasks: string | undefined, options: SyncArguments, outer: Cli): Promise<void> {
  const { quiet } = options
  const telling = openTelling(quiet === undefined ? {} : { quiet }, outer)
  const { cli } = telling
  if (options.export !== undefined) return exportRows(options.export, tasks, options, cli)
  if (tasks === undefined) throw missingOption('<tasks>', 'nothing says what to sync')
  const { console } = cli
  const loaded = await Taskset.load(tasks)
  const taskset = options.taskIds === undefined ? loaded : loaded.select(options.taskIds)
  await using sync = new TasksetSync({ clock: cli.clock })
  const target = await showing(telling, `comparing with ${options.to}`, taskset.tasks.length, () =>
    sync.plan(options.to, taskset.tasks, { force: options.force === true }),
  )
  if (options.json !== true) await console.print(renderPlan(target))
  const changes = target.plan.create.length + target.plan.update.length
  if (changes === 0) {
    if (options.json !== true) console.talk('all of them are there already')
    return tellJson(target, 'up-to-date', undefined, options, cli)
  }
  if (options.dryRun === true) {
    if (options.json !== true) console.talk('--dry-run: nothing was changed')
    return tellJson(target, 'planned', undefined, options, cli)
  }
  if (options.yes !== true && !(await confirm(changes, cli))) {
    console.talk('nothing was changed')
    return cli.exitWith(EXIT.interrupted)
  }
  const synced = await showing(telling, `sending to ${target.name}`, changes, () => sync.apply(target))
  if (options.json !== true) {
    await console.print(`synced: ${synced.created} created, ${synced.updated} updated`)
    console.need(synced.url)
  }
  await tellJson(target, 'synced', synced, options, cli)
}

/** The platform takes or gives all tasks at once: what it is busy with is all that can be said meanwhile. */
async function showing<Value>(
  telling: Telling,
  stage: string,
  tasks: number,
  work: () => Promise<Value>,
): Promise<Value> {
  const counter = makeCounter({ unit: tasks === 1 ? 'task' : 'tasks', total: tasks, clock: telling.cli.clock })
  counter.begin(stage)
  const shown = telling.show(counter.view, { passing: true })
  try {
    return await work()
  } finally {
    shown.stop()
  }
}

async function exportRows(file: string, tasks: string | undefined, options: SyncArguments, cli: Cli): Promise<void> {
  if (tasks !== undefined) throw conflictingOptions('<tasks>', '--export', 'an export reads what is there')
  const { renderTasks } = await import('../platform/render-tasks.ts')
  // Also what is wrong with the name is said before anything is asked for.
  await renderTasks(file, [])
  await using sync = new TasksetSync({ clock: cli.clock })
  const { name, tasks: found } = await sync.read(options.to)
  await replaceFile(file, await renderTasks(file, found))
  if (options.json === true)
    await cli.console.print(JSON.stringify({ status: 'exported', taskset: name, file, tasks: found.length }))
  else await cli.console.print(`${found.length} tasks of "${name}" written to ${file}`)
}

async function confirm(changes: number, { console }: Cli): Promise<boolean> {
  if (!console.interactive || process.stdin.isTTY !== true)
    throw missingOption('--yes', 'there is no terminal to ask at; look at the plan with --dry-run first')
  const asked = createInterface({ input: process.stdin, output: console.stderr })
  try {
    const answer = await asked.question(`Send ${changes} ${changes === 1 ? 'task' : 'tasks'}? [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asked.close()
  }
}

function renderPlan({ name, id, plan }: SyncTarget): string {
  const kinds = [
    ['create', plan.create],
    ['update', plan.update],
    ['unchanged', plan.unchanged],
    ['remote only', plan.remoteOnly],
  ] as const
  const head = `"${name}"${id === undefined ? ', which will be made' : ` (${id})`}`
  return `${head}\n\n${renderTable(
    ['', 'tasks', 'slugs'],
    kinds.map(([kind, tasks]) => [kind, tasks.length, someSlugs(tasks)]),
    { left: [0, 2] },
  )}`
}

function someSlugs(tasks: readonly Task[]): string {
  const more = tasks.length - MOST_SHOWN
  const shown = tasks.slice(0, MOST_SHOWN).map(({ slug }) => slug)
  return `${shown.join('\n')}${more > 0 ? `\n… and ${more} more` : ''}`
}

async function tellJson(
  { name, id, plan }: SyncTarget,
  status: string,
  synced: Synced | undefined,
  { json }: SyncArguments,
  { console }: Cli,
): Promise<void> {
  if (json !== true) return
  const slugs = (tasks: readonly Task[]) => tasks.map(({ slug }) => slug)
  const { create, update, unchanged, remoteOnly } = plan
  await console.print(
    JSON.stringify({
      status,
      taskset: name,
      id: synced?.id ?? id ?? null,
      create: slugs(create),
      update: slugs(update),
      unchanged: slugs(unchanged),
      remote_only: slugs(remoteOnly),
      ...(synced === undefined ? {} : { created: synced.created, updated: synced.updated, url: synced.url }),
    }),
  )
}
