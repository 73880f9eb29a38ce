import type { Command } from 'commander'
import { wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { DEFAULT_BASE, POLICIES_DIRECTORY } from '../model-options.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'

/** The options of `troupe policy serve` as the action gets them. */
export interface PolicyServeArguments {
  readonly base?: string
  readonly name: string
  readonly directory?: string
  readonly port: number
  readonly samplers?: number
}

export interface PolicyMakeArguments extends TellArguments {
  readonly out: string
  readonly seed?: number
  readonly steps?: number
  readonly force?: true
}

export interface PolicyShowArguments {
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .command('serve')
    .description('Serve an embedded policy on loopback: chat completions, training, checkpoints. Ends with Ctrl-C.')
    .option('--base <file>', `what it starts from (default: ${DEFAULT_BASE})`)
    .option('--name <model>', 'the name it is called by', 'policy')
    .option('--directory <dir>', `where its checkpoints are kept (default: ${POLICIES_DIRECTORY}/NAME)`)
    .option('--port <n>', 'TCP port; 0 lets the system choose', wholeNumberFrom(0), 8000)
    .option('--samplers <n>', 'worker threads that sample', wholeNumberFrom(1))
    .addHelpText('after', SERVE_EXAMPLES)
    .action(async (options: PolicyServeArguments) => {
      const { servePolicy } = await import('../policy-serve.ts')
      await servePolicy(options, cli)
    })
  addTellOptions(command.command('make'), 'what was made')
    .description('Make the base of an embedded policy from demonstrations, seeded; its settings are kept in the file.')
    .argument('<demonstrations>', 'a module whose default export is a DemonstrationSource')
    .requiredOption('--out <file>', 'the base to write')
    .option('--seed <n>', 'of weights and demonstrations (default: as the source has it)', wholeNumberFrom(0))
    .option('--steps <n>', 'of the warm-up (default: as the source has it)', wholeNumberFrom(1))
    .option('--force', 'replace a file that is there')
    .addHelpText('after', MAKE_EXAMPLES)
    .action(async (demonstrations: string, options: PolicyMakeArguments) => {
      const { makePolicy } = await import('../policy-make.ts')
      await makePolicy(demonstrations, options, cli)
    })
  command
    .command('show')
    .description('Show what a base is made of: shape, parameters, tokens, and the settings that made it.')
    .argument('<file>', 'the base')
    .option('--json', 'one JSON document')
    .addHelpText('after', SHOW_EXAMPLES)
    .action(async (file: string, options: PolicyShowArguments) => {
      const { showPolicy } = await import('../policy-show.ts')
      await showPolicy(file, options, cli)
    })
}

const SERVE_EXAMPLES = `
Examples:
  $ troupe policy serve --port 8000
  $ troupe models checkpoints policy --url http://127.0.0.1:8000`
const MAKE_EXAMPLES = `
Examples:
  $ troupe policy make environments/calc/demonstrations.ts --out environments/calc/policy.base --force
  $ troupe policy make environments/arith/demonstrations.ts --out /tmp/arith.base --seed 2`
const SHOW_EXAMPLES = `
Examples:
  $ troupe policy show environments/calc/policy.base`
