import { type Command, InvalidArgumentError, Option } from 'commander'
import { REAP_KINDS, type ReapKind } from '../../runtimes/daytona/reap/leftover.ts'
import { toList } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addQuietOption } from '../telling.ts'

/** The options of `troupe reap` as the action gets them. */
export interface ReapArguments {
  readonly runtime: 'daytona' | 'docker'
  readonly delete?: true
  readonly kind?: readonly ReapKind[]
  readonly olderThan?: number
  readonly owner?: readonly string[]
  readonly host?: readonly string[]
  readonly ownerless?: true
  readonly json?: true
  readonly quiet?: true
}

export function define(command: Command, cli: Cli): void {
  addQuietOption(command)
    .addOption(
      new Option('--runtime <name>', 'where to look').choices(['daytona', 'docker']).default('daytona', 'daytona'),
    )
    .option('--delete', 'delete what is listed; without it nothing is changed')
    .option('--kind <kinds>', `only these, separated by commas: ${REAP_KINDS.join(', ')}`, toKinds)
    .option('--older-than <age>', 'only what is older: 90s, 30m, 2h, 7d', toAgeMs)
    .option('--owner <owner>', 'only what this process left; if it cannot be seen from here, it counts as dead', toList)
    .option('--host <name>', 'only what processes on this machine left; the same', toList)
    .option('--ownerless', 'with pools and sandboxes that look like ours and say no owner')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ReapArguments) => {
      if (options.runtime === 'docker') {
        const { runReapDocker } = await import('../run-reap-docker.ts')
        return await runReapDocker(options, cli)
      }
      const { runReap } = await import('../run-reap.ts')
      await runReap(options, cli)
    })
}

function toKinds(text: string, earlier: readonly ReapKind[] = []): readonly ReapKind[] {
  const kinds = toList(text).map(word => REAP_KINDS.find(kind => kind === word))
  if (kinds.includes(undefined)) throw new InvalidArgumentError(`Write one or several of: ${REAP_KINDS.join(', ')}.`)
  return [...earlier, ...kinds.filter(kind => kind !== undefined)]
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function toAgeMs(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (digits === undefined || unitMs === undefined)
    throw new InvalidArgumentError('Write an age such as 90s, 30m, 2h or 7d.')
  return Number(digits) * unitMs
}

const EXAMPLES = `
Examples:
  $ troupe reap
  $ troupe reap --delete
  $ troupe reap --kind pool,sandbox --older-than 2h --json
  $ troupe reap --host build-7 --delete
  $ troupe reap --runtime docker --delete

Lists what engines that are dead have left at Daytona: sandboxes, pools that the provider keeps filled, snapshots that nothing uses. What an engine that
lives needs is left alone, and so is whatever has no label of ours. Set DAYTONA_API_KEY, and DAYTONA_API_URL where it is not Daytona's own.
With --runtime docker: containers at the engine of DOCKER_HOST, or of the socket /var/run/docker.sock.
Exit status: 0 it was listed, or all of it is gone; 1 something would not go; 2 bad input, or the provider refused.`
