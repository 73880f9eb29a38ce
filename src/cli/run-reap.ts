import type { ErrorData } from '../errors.ts'
import type { Account } from '../runtimes/daytona/account/account.ts'
import { openAccount } from '../runtimes/daytona/account/open-account.ts'
import { findLeftovers, type Leftover, removeLeftovers } from '../runtimes/daytona/reap/index.ts'
import type { Cli } from './cli.ts'
import type { ReapArguments } from './commands/reap.ts'
import { EXIT } from './exit-codes.ts'
import { makeCounter } from './progress/counter.ts'
import { describeLeftover, describeTotal, renderLeftovers } from './render-leftovers.ts'
import { openTelling, type Telling } from './telling.ts'

/** `troupe reap`: lists what dead engines have left at the provider, and with `--delete` removes it. */
export async function runReap(options: ReapArguments, outer: Cli): Promise<void> {
  const { quiet } = options
  const telling = openTelling(quiet === undefined ? {} : { quiet }, outer)
  const { cli } = telling
  const account = await openAccount({ clock: cli.clock })
  try {
    const leftovers = await find(account, options, cli)
    if (options.delete === true) await remove(account, leftovers, options, telling)
    else await list(leftovers, options, cli)
  } finally {
    await account.release()
  }
}

async function find(account: Account, options: ReapArguments, { console }: Cli): Promise<readonly Leftover[]> {
  const { kind: kinds, olderThan: olderThanMs, owner: owners, host: hosts } = options
  const all = await findLeftovers(account, {
    ...(kinds === undefined ? {} : { kinds }),
    ...(olderThanMs === undefined ? {} : { olderThanMs }),
    ...(owners === undefined ? {} : { owners }),
    ...(hosts === undefined ? {} : { hosts }),
    ownerless: true,
  })
  if (options.ownerless === true) return all
  const owned = all.filter(({ standing }) => standing !== 'none')
  if (owned.length < all.length)
    console.talk(
      `${all.length - owned.length} more look like ours and say no owner; somebody may have made them by hand: --ownerless lists them`,
    )
  return owned
}

async function list(leftovers: readonly Leftover[], { json }: ReapArguments, { console, clock }: Cli): Promise<void> {
  if (leftovers.length === 0) return console.talk('nothing is left over')
  if (json === true) return await console.print(leftovers.map(each => JSON.stringify(each)).join('\n'))
  await console.print(renderLeftovers(leftovers, clock.wallTime()))
  await console.print(describeTotal(leftovers))
  console.talk('nothing was deleted; --delete does it')
}

async function remove(
  account: Account,
  leftovers: readonly Leftover[],
  { json }: ReapArguments,
  telling: Telling,
): Promise<void> {
  const { console, clock, exitWith } = telling.cli
  if (leftovers.length === 0) return console.talk('nothing is left over')
  const counter = makeCounter({ unit: 'left over', total: leftovers.length, clock, tellsFrom: 0.2 })
  const shown = telling.show(counter.view, { passing: true })
  const gone: Leftover[] = []
  const lines: string[] = []
  const onEach = (leftover: Leftover, problem: ErrorData | undefined) => {
    if (problem === undefined) gone.push(leftover)
    lines.push(JSON.stringify({ ...leftover, deleted: problem === undefined, ...(problem && { problem }) }))
    counter.done([`${gone.length} deleted`])
    if (problem !== undefined) console.need(`not deleted: ${describeLeftover(leftover)}: ${problem.message}`)
  }
  const failures = await removeLeftovers(account, leftovers, onEach).finally(() => shown.stop())
  if (json === true) await console.print(lines.join('\n'))
  else await console.print(`deleted: ${describeTotal(gone)}`)
  if (failures.length > 0) exitWith(EXIT.failed)
}
