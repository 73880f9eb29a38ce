import type { ErrorData } from '../errors.ts'
import { renderTable } from '../report/table.ts'
import { oneLine } from '../report/units.ts'
import { readEngineAddress } from '../runtimes/docker/engine/address.ts'
import { type Engine, openEngine } from '../runtimes/docker/engine/engine.ts'
import { findLeftovers, type LeftContainer, removeLeftovers, toHost } from '../runtimes/docker/reap.ts'
import type { Cli } from './cli.ts'
import type { ReapArguments } from './commands/reap.ts'
import { conflictingOptions } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { makeCounter } from './progress/counter.ts'
import { toAge } from './render-leftovers.ts'
import { openTelling, type Telling } from './telling.ts'

/** `troupe reap --runtime docker`: lists the containers that dead engines have left, and with `--delete` removes them. */
export async function runReapDocker(options: ReapArguments, outer: Cli): Promise<void> {
  const { kind, olderThan, owner, host, ownerless, json, quiet } = options
  const telling = openTelling(quiet === undefined ? {} : { quiet }, outer)
  const { console, clock } = telling.cli
  if (kind !== undefined) throw conflictingOptions('--kind', '--runtime docker', 'there are only containers')
  if (ownerless === true)
    throw conflictingOptions('--ownerless', '--runtime docker', 'a container of ours has its owner from the start')
  const engine = await openEngine(readEngineAddress(undefined, process.env), clock)
  try {
    const leftovers = await findLeftovers(engine, {
      ...(olderThan === undefined ? {} : { olderThanMs: olderThan }),
      ...(owner === undefined ? {} : { owners: owner }),
      ...(host === undefined ? {} : { hosts: host }),
    })
    if (leftovers.length === 0) return console.talk('nothing is left over')
    if (options.delete === true) return await remove(engine, leftovers, options, telling)
    if (json === true) return await console.print(leftovers.map(each => JSON.stringify(each)).join('\n'))
    await console.print(render(leftovers, clock.wallTime()))
    await console.print(count(leftovers))
    console.talk('nothing was deleted; --delete does it')
  } finally {
    engine.close()
  }
}

async function remove(
  engine: Engine,
  leftovers: readonly LeftContainer[],
  { json }: ReapArguments,
  telling: Telling,
): Promise<void> {
  const { console, clock, exitWith } = telling.cli
  const counter = makeCounter({ unit: 'containers', total: leftovers.length, clock, tellsFrom: 0.2 })
  const shown = telling.show(counter.view, { passing: true })
  const gone: LeftContainer[] = []
  const lines: string[] = []
  const onEach = (leftover: LeftContainer, problem: ErrorData | undefined) => {
    if (problem === undefined) gone.push(leftover)
    else console.need(`not deleted: ${leftover.name}: ${problem.message}`)
    counter.done([`${gone.length} deleted`])
    lines.push(JSON.stringify({ ...leftover, deleted: problem === undefined, ...(problem && { problem }) }))
  }
  const failures = await removeLeftovers(engine, leftovers, onEach).finally(() => shown.stop())
  await console.print(json === true ? lines.join('\n') : `deleted: ${count(gone)}`)
  if (failures.length > 0) exitWith(EXIT.failed)
}

const NOTHING = '–'
const OWNER: Readonly<Record<LeftContainer['standing'], string>> = {
  dead: 'dead',
  expired: 'elsewhere, expired',
  named: 'elsewhere, named',
}

function render(leftovers: readonly LeftContainer[], now: number): string {
  return renderTable(
    ['name', 'state', 'job', 'host', 'owner', 'image', 'age'],
    leftovers.map(({ name, state, job, owner, standing, image, createdAt }) => [
      oneLine(name, 40),
      state,
      oneLine(job ?? NOTHING, 24),
      oneLine(toHost(owner), 24),
      OWNER[standing],
      oneLine(image, 32),
      toAge(now - createdAt),
    ]),
    { left: [0, 1, 2, 3, 4, 5] },
  )
}

const count = ({ length }: readonly LeftContainer[]): string =>
  length === 0 ? 'nothing' : `${length} ${length === 1 ? 'container' : 'containers'}`
