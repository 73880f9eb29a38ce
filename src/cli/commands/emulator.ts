import { type Command, InvalidArgumentError, Option } from 'commander'
import { FAULT_KINDS, type Fault, parseFault } from '../../emulator/faults.ts'
import { positiveNumber, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'

/** The options of `troupe emulator` as the action gets them. */
export interface EmulatorArguments {
  readonly port: number
  readonly sshPort: number
  readonly speed: number
  readonly seed: number
  readonly key?: string
  readonly fault: readonly Fault[]
  readonly env?: string
  readonly servers: 'shared' | 'each'
}

export function define(command: Command, cli: Cli): void {
  command
    .option('--port <n>', 'the port of the API; 0 lets the system choose', wholeNumberFrom(0), 8790)
    .option('--ssh-port <n>', 'the port of the SSH gateway', wholeNumberFrom(0), 0)
    .option('--speed <n>', 'divide all emulated times by it', positiveNumber, 1)
    .option('--seed <n>', 'decides durations, failures and faults', wholeNumberFrom(0), 0)
    .option('--key <key>', 'what clients must send as their API key (default: emulator)')
    .option('--fault <kind=share>', 'a fault and the share of calls that it hits; may be repeated', toFaults, [])
    .option('--env <file>', 'the environment that sandboxes serve, whatever file they are told to serve')
    .addOption(
      new Option('--servers <how>', 'one server process for all sandboxes, or one for each')
        .choices(['shared', 'each'])
        .default('shared'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: EmulatorArguments) => {
      const { runEmulator } = await import('../run-emulator.ts')
      await runEmulator(options, cli)
    })
}

function toFaults(text: string, earlier: readonly Fault[]): readonly Fault[] {
  try {
    return [...earlier, parseFault(text)]
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

const EXAMPLES = `
Examples:
  $ troupe emulator
  $ troupe emulator --speed 20 --seed 7
  $ troupe emulator --fault reset-create=0.01 --fault too-many-requests=0.02

Faults: ${FAULT_KINDS.join(', ')}.
Ctrl-C ends it and every sandbox in it.`
