import type { Command } from 'commander'
import type { Cli } from '../cli.ts'

/** The options of `troupe models …` as the actions get them. */
export interface ModelsArguments {
  readonly url?: string
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  common(command.command('list').description('List the models there are.'), 'list').action(
    async (options: ModelsArguments) => {
      const { listModels } = await import('../list-models.ts')
      await listModels(options, cli)
    },
  )
  common(command.command('show').description('Show one model and the checkpoint it serves.'), 'show my-fork')
    .argument('<model>', 'its slug or id')
    .action(async (model: string, options: ModelsArguments) => {
      const { showModel } = await import('../list-models.ts')
      await showModel(model, options, cli)
    })
  common(
    command.command('fork').description('Make a trainable model that starts where another is.'),
    'fork Qwen/Qwen3.5-4B my-fork',
  )
    .argument('<source>', 'slug or id of the model to start from')
    .argument('<name>', 'name of the new one')
    .action(async (source: string, name: string, options: ModelsArguments) => {
      const { forkModel } = await import('../list-models.ts')
      await forkModel(source, name, options, cli)
    })
  common(command.command('checkpoints').description("List a model's checkpoints, oldest first."), 'checkpoints my-fork')
    .argument('<model>', 'its slug or id')
    .action(async (model: string, options: ModelsArguments) => {
      const { listCheckpoints } = await import('../list-checkpoints.ts')
      await listCheckpoints(model, options, cli)
    })
  common(
    command.command('head').description('Print the checkpoint a model serves, or roll back to one.'),
    'head my-fork ckpt-0123',
  )
    .argument('<model>', 'its slug or id')
    .argument('[checkpoint]', 'the checkpoint to serve from now on; without one, the head is printed')
    .action(async (model: string, checkpoint: string | undefined, options: ModelsArguments) => {
      const { moveHead } = await import('../list-checkpoints.ts')
      await moveHead(model, checkpoint, options, cli)
    })
}

function common(command: Command, example: string): Command {
  return command
    .option('--url <url>', "a server's address, such as that of `troupe policy serve` (default: HUD's services)")
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  $ troupe models ${example}
  $ troupe models ${example} --url http://127.0.0.1:8000

HUD's services ask for a key in HUD_API_KEY.`,
    )
}
