import { renderTable } from '../report/table.ts'
import { oneLine } from '../report/units.ts'
import { type Leftover, toHost } from '../runtimes/daytona/reap/index.ts'

const KINDS: Readonly<Record<Leftover['kind'], readonly [one: string, many: string]>> = {
  sandbox: ['sandbox', 'sandboxes'],
  pool: ['pool', 'pools'],
  'pool-member': ['pool member', 'pool members'],
  'pool-anchor': ['pool anchor', 'pool anchors'],
  snapshot: ['snapshot', 'snapshots'],
}
const NOTHING = '–'

const OWNER: Readonly<Record<Leftover['standing'], string>> = {
  dead: 'dead',
  expired: 'elsewhere, expired',
  named: 'elsewhere, named',
  none: 'none known',
  unused: NOTHING,
}

export function renderLeftovers(leftovers: readonly Leftover[], now: number): string {
  return renderTable(
    ['kind', 'name', 'job', 'host', 'owner', 'region', 'age'],
    leftovers.map(({ kind, name, job, owner, standing, region, createdAt }) => [
      KINDS[kind][0],
      oneLine(name, 40),
      oneLine(job ?? NOTHING, 24),
      owner === undefined ? NOTHING : oneLine(toHost(owner), 24),
      OWNER[standing],
      region ?? NOTHING,
      createdAt === undefined ? NOTHING : toAge(now - createdAt),
    ]),
    { left: [0, 1, 2, 3, 4, 5] },
  )
}

/** `3 sandboxes, 1 pool; 3 vCPUs, 3 GiB of memory, 9 GiB of disk`. */
export function describeTotal(leftovers: readonly Leftover[]): string {
  if (leftovers.length === 0) return 'nothing'
  const counts = Object.entries(KINDS).flatMap(([kind, [one, many]]) => {
    const count = leftovers.filter(each => each.kind === kind).length
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  const sum = (size: 'cpu' | 'memory' | 'disk') => leftovers.reduce((total, each) => total + each[size], 0)
  return `${counts.join(', ')}; ${sum('cpu')} vCPUs, ${sum('memory')} GiB of memory, ${sum('disk')} GiB of disk`
}

export function describeLeftover({ kind, name, id }: Leftover): string {
  return `${KINDS[kind][0]} ${name}${name === id ? '' : ` (${id})`}`
}

/** `45 s`, `12 min`, `3 h`, `9 d`. */
export function toAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 90) return `${seconds} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}
