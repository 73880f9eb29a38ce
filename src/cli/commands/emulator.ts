import { type Command, Option } from 'commander'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { FAULT_KINDS, type Fault } from '../../emulator/faults.ts'
import { positiveNumber, toList, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { toFaults, toQuota, toRateLimits } from '../emulator-arguments.ts'

/** The options of `troupe emulator` as the action gets them. */
export interface EmulatorArguments {
  readonly port: number
  readonly sshPort: number
  readonly speed: number
  readonly seed: number
  readonly key?: string
  readonly fault: readonly Fault[]
  readonly limit?: NonNullable<EmulatorOptions['limits']>
  readonly quota?: NonNullable<EmulatorOptions['quota']>
  readonly regions?: readonly string[]
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
    .option('--limit <name=calls>', 'calls a minute: all, create or lifecycle; may be repeated', toRateLimits)
    .option('--quota <list>', 'what may be in use at once: cpu=64,memory=128,disk=512', toQuota)
    .option('--regions <list>', 'where sandboxes may be; the first is the default (default: us,eu)', toList)
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

const EXAMPLES = `
Examples:
  $ troupe emulator
  $ troupe emulator --speed 20 --seed 7
  $ troupe emulator --limit create=300 --quota cpu=64,memory=64 --regions us
  $ troupe emulator --fault reset-create=0.01 --fault too-many-requests=0.02

Faults: ${FAULT_KINDS.join(', ')}.
Ctrl-C ends it and every sandbox in it.`
