import { quote } from '../../../quote.ts'
import { badVariable } from './errors.ts'

/**
 * The command with variables of its own, for a POSIX shell. They are exported before it, so that every part of a command line with `&&` or a pipe
 * sees them. Throws `bad-variable-name`.
 */
export function toCommandLine(command: string, variables: Readonly<Record<string, string>>): string {
  const names = Object.keys(variables)
  const bad = names.find(name => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (bad !== undefined) throw badVariable(bad)
  if (names.length === 0) return command
  return `export ${names.map(name => `${name}=${quote(variables[name] ?? '')}`).join(' ')}; ${command}`
}
