import { type Command, Option } from 'commander'
import { wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { toTracesArgument } from '../observe-options.ts'

/** The options of `troupe serve` as the action gets them. */
export interface ServeArguments {
  readonly host?: string
  readonly port: number
  readonly socket?: string
  readonly tokenFile?: string
  readonly insecure?: true
  readonly env?: string
  readonly network?: true
  readonly unsafeNoIsolation?: true
  readonly traces?: string
  readonly exitWithParent?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('<env>', "the environment's source: env.ts or .js")
    .option('--host <host>', 'where to listen (default: 127.0.0.1); beyond this machine, with a token')
    .option('--token-file <file>', 'holds the token that clients must show (default: TROUPE_SERVE_TOKEN, if set)')
    .option('--insecure', 'want no token, wherever it listens')
    .option('--port <n>', 'the port; 0 lets the system choose', wholeNumberFrom(0), 8765)
    .option('--socket <path>', 'listen on a Unix socket instead')
    .option('--env <name>', 'which environment, when the file exports more than one')
    .option('--network', "let the agent's commands reach the network")
    .option('--unsafe-no-isolation', "run the agent's commands without bubblewrap, with all rights of this user")
    .option('--traces <url>', TRACES_HELP, toTracesArgument)
    .addOption(new Option('--exit-with-parent', 'end when the process that started this one ends').hideHelp())
    .addHelpText('after', EXAMPLES)
    .action(async (environment: string, options: ServeArguments) => {
      const { serve } = await import('../serve.ts')
      await serve(environment, options, cli)
    })
}

const TRACES_HELP = 'send spans of what traced rollouts ask for to this receiver of OTLP over HTTP'

const EXAMPLES = `
Examples:
  $ troupe serve environments/calc/env.ts
  $ troupe serve environments/calc/env.ts --host 0.0.0.0 --port 9000 --token-file /run/secrets/token
  $ troupe serve environments/calc/env.ts --host 0.0.0.0 --insecure   # where only friends reach the port; for HUD's clients
  $ troupe serve environments/arith/env.ts --port 0        # prints HUD_SERVE_PORT=<port> once bound

SIGTERM or Ctrl-C ends it in order.`
