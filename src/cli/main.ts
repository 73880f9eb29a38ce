#!/usr/bin/env node
import { systemClock } from '../clock.ts'
import type { Cli } from './cli.ts'
import { makeConsole } from './console.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explainError } from './print-error.ts'
import { makeProgram } from './program.ts'

async function main(argv: readonly string[]): Promise<ExitCode> {
  const console = makeConsole(process.stdout, process.stderr, process.env)
  const debug = argv.includes('--debug')
  let code: ExitCode = EXIT.ok
  const exitWith = (asked: ExitCode) => {
    code = asked
  }
  const tell = (error: unknown): ExitCode => {
    const { text, exit } = explainError(error, debug)
    if (text !== '') console.need(text)
    return exit
  }
  const cli: Cli = { console, clock: systemClock, tell, exitWith }
  try {
    const program = await makeProgram(argv, cli)
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    code = tell(error)
  }
  return code
}

process.exitCode = await main(process.argv.slice(2))
