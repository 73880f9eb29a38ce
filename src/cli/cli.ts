import type { Command } from 'commander'
import type { Clock } from '../clock.ts'
import type { Console } from './console.ts'
import type { ExitCode } from './exit-codes.ts'

/** What every command is given. */
export interface Cli {
  readonly console: Console
  readonly clock: Clock
  /** Words an error on stderr, with its data after `--debug`; answers the exit status that suits it. */
  tell(error: unknown): ExitCode
  /** Sets the exit status of a command that ends without an error. */
  exitWith(code: ExitCode): void
}

/** A command's file exports `define`: it adds arguments, options, help and the action to `command`. */
export interface CommandModule {
  define(command: Command, cli: Cli): void
}
