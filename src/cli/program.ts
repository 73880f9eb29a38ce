/** The commands, and the program that they make up. */
import { Command } from 'commander'
import { readVersion } from '../version.ts'
import type { Cli, CommandModule } from './cli.ts'
import { describeVariables } from './variables.ts'

interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<CommandModule>
}

/** A command's file is loaded only when the command is called, so that help is there at once. */
const COMMANDS: readonly CommandEntry[] = [
  { name: 'eval', summary: 'run a taskset with an agent, graded', load: () => import('./commands/eval.ts') },
  {
    name: 'serve',
    summary: 'serve an environment over the control channel',
    load: () => import('./commands/serve.ts'),
  },
  { name: 'init', summary: 'make a new environment that runs as it is', load: () => import('./commands/init.ts') },
  { name: 'play', summary: 'do a task by hand, in its workspace, graded', load: () => import('./commands/play.ts') },
  { name: 'task', summary: 'start, grade or list single tasks', load: () => import('./commands/task.ts') },
  { name: 'runs', summary: 'list the jobs and runs of a journal', load: () => import('./commands/runs.ts') },
  { name: 'show', summary: 'show one run: conversation, timings and grade', load: () => import('./commands/show.ts') },
  {
    name: 'explain',
    summary: 'say where the time of a job went, and what would shorten it',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'top',
    summary: 'watch a running engine in the terminal',
    load: () => import('./commands/top.ts'),
  },
  {
    name: 'dashboard',
    summary: 'serve a page that shows a job, running or over',
    load: () => import('./commands/dashboard.ts'),
  },
  { name: 'export', summary: 'write runs as JSONL or Parquet', load: () => import('./commands/export.ts') },
  { name: 'train', summary: 'train a model on the rollouts it makes', load: () => import('./commands/train.ts') },
  {
    name: 'worker',
    summary: 'run the rollouts of jobs that other machines coordinate',
    load: () => import('./commands/worker.ts'),
  },
  {
    name: 'baseline',
    summary: 'measure a pass rate, and whether groups disagree enough to learn from',
    load: () => import('./commands/baseline.ts'),
  },
  { name: 'models', summary: 'list, fork and roll back models', load: () => import('./commands/models.ts') },
  { name: 'policy', summary: 'make, show or serve the embedded policy', load: () => import('./commands/policy.ts') },
  {
    name: 'sync',
    summary: "compare tasks with a taskset of HUD's platform, and make that one like them",
    load: () => import('./commands/sync.ts'),
  },
  {
    name: 'emulator',
    summary: 'run a look-alike of Daytona on this machine',
    load: () => import('./commands/emulator.ts'),
  },
  {
    name: 'ladder',
    summary: 'measure how long sandboxes take, by width and by where they come from',
    load: () => import('./commands/ladder.ts'),
  },
  {
    name: 'warmpool',
    summary: 'measure cold against warm: fills, refills, batches',
    load: () => import('./commands/warmpool.ts'),
  },
  {
    name: 'fork-bench',
    summary: 'measure forks against creates, by the number of parents',
    load: () => import('./commands/fork-bench.ts'),
  },
  {
    name: 'tune',
    summary: 'find the pool that suits a job, by simulation',
    load: () => import('./commands/tune.ts'),
  },
  {
    name: 'reap',
    summary: 'list or delete what dead engines have left at Daytona or in Docker',
    load: () => import('./commands/reap.ts'),
  },
]

/**
 * The program, with the one command that `argv` calls or asks help for loaded; with `all`, every one of them. Parsing throws commander's errors and
 * never ends the process.
 */
export async function makeProgram(argv: readonly string[] | 'all', cli: Cli): Promise<Command> {
  const program = new Command('troupe')
    .description('Runs groups of graded agent rollouts wide on sandboxes.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--debug', 'print the data and the stack of an error')
    .exitOverride()
    .configureOutput({ writeErr: text => cli.console.talk(text), outputError: () => {} })
    .showHelpAfterError(false)
    .addHelpText('after', `${EXAMPLES}\n\n${describeVariables()}`)
  const isWanted = argv === 'all' ? () => true : findWanted(argv)
  for (const { name, summary, load } of COMMANDS) {
    const command = program
      .command(name)
      .summary(summary)
      .description(`${upperFirst(summary)}.`)
    if (isWanted(name)) (await load()).define(command, cli)
    for (const each of [command, ...command.commands])
      each.option('--debug', 'print the data and the stack of an error')
  }
  return program
}

function findWanted(argv: readonly string[]): (name: string) => boolean {
  const wanted = argv.find(argument => !argument.startsWith('-'))
  const asksHelp = wanted === 'help' ? argv[argv.indexOf('help') + 1] : undefined
  return name => name === wanted || name === asksHelp
}

const EXAMPLES = `
Examples:
  $ troupe eval environments/calc/tasks.ts environments/calc/repairer.ts --all --group 8
  $ troupe runs
  $ troupe show run-0123456789abcdef
  $ troupe serve environments/calc/env.ts --port 8765
  $ troupe train --quick

Exit status: 0 the command did what was asked, 1 runs failed, 2 bad input and nothing was started, 130 interrupted.`

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
