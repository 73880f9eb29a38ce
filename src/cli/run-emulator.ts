import { startEmulator } from '../emulator/index.ts'
import type { Cli } from './cli.ts'
import type { EmulatorArguments } from './commands/emulator.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'

/** Runs an emulator until a signal. Prints on stdout the variables that point a client at it. */
export async function runEmulator(options: EmulatorArguments, cli: Cli): Promise<void> {
  const { console } = cli
  const { port, sshPort, speed, seed, key, fault, limit, quota, regions, env, servers } = options
  let askedToEnd: () => void = () => {}
  const ended = new Promise<void>(resolve => {
    askedToEnd = resolve
  })
  const interrupt = armInterrupt({ onFirst: askedToEnd, onSecond: () => process.exit(EXIT.interrupted) })
  try {
    const emulator = await startEmulator({
      port,
      sshPort,
      speed,
      seed,
      faults: fault,
      servers,
      clock: cli.clock,
      onError: error => console.talk(error instanceof Error ? error.message : String(error)),
      ...(key === undefined ? {} : { apiKey: key }),
      ...(limit === undefined ? {} : { limits: limit }),
      ...(quota === undefined ? {} : { quota }),
      ...(regions === undefined ? {} : { regions }),
      ...(env === undefined ? {} : { environmentPath: env }),
    })
    try {
      console.talk(
        `This is an emulator of Daytona on this machine alone: no account, no cloud, no cost. Its times are those that were
published, divided by ${speed}; its sandboxes are directories and processes here, isolated with bubblewrap.
The SSH gateway listens on port ${emulator.sshPort}. Point a client at it with:`,
      )
      // Past what hides keys: this one is what was asked for.
      console.stdout.write(`export DAYTONA_API_URL=${emulator.url}\nexport DAYTONA_API_KEY=${emulator.apiKey}\n`)
      await ended
    } finally {
      console.talk(`ending ${emulator.existing()} sandboxes`)
      await emulator.close()
    }
  } finally {
    interrupt.disarm()
  }
}
