import type { EmulatorOptions } from '../../emulator/index.ts'

/** Far above what any ladder asks for: its creates are to be bound by latency, not by the account's 600 a minute. */
export const LADDER_LIMITS = {
  authenticated: 10_000_000,
  'sandbox-create': 1_000_000,
  'sandbox-lifecycle': 1_000_000,
} satisfies EmulatorOptions['limits']

export const LADDER_QUOTA = { cpu: 100_000, memory: 100_000, disk: 1_000_000 } satisfies EmulatorOptions['quota']
