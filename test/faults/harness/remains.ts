import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** What this process holds and what it has started. */
export interface Footprint {
  /** Kinds of handles, requests and timers that keep the process alive, and how many of each. */
  readonly resources: ReadonlyMap<string, number>
  readonly listening: ReadonlySet<string>
  readonly processes: ReadonlySet<number>
}

export function takeFootprint(): Footprint {
  // Each opens a handle when it is first used, which a thread's start may be.
  void [process.stdout, process.stderr]
  return { resources: countResources(), listening: listeningSockets(), processes: new Set(descendants()) }
}

/** Everything that is there now and was not there before, or that names the scene's directory, in words. */
export function whatRemains(
  before: Footprint,
  { directory, temporary }: { readonly directory: string; readonly temporary: string },
): readonly string[] {
  const resources = [...countResources()].flatMap(([kind, count]) => {
    const more = count - (before.resources.get(kind) ?? 0)
    return more > 0 ? [`${more} more ${kind}`] : []
  })
  const sockets = [...listeningSockets()].filter(inode => !before.listening.has(inode))
  const started = descendants().filter(pid => !before.processes.has(pid))
  const named = processIds().filter(pid =>
    ['environ', 'cmdline', 'mountinfo'].some(file => readProc(pid, file).includes(directory)),
  )
  return [
    ...resources,
    ...sockets.map(inode => `a listening socket (inode ${inode})`),
    ...[...new Set([...started, ...named])].map(
      pid => `process ${pid}: ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`,
    ),
    ...descriptors().flatMap(target => (target.startsWith(directory) ? [`an open file: ${target}`] : [])),
    ...readdirSync(temporary).map(name => `in the temporary directory: ${name}`),
  ]
}

function countResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Inodes of the sockets on which this process listens, TCP and Unix. */
function listeningSockets(): ReadonlySet<string> {
  const own = new Set(descriptors().flatMap(target => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []))
  const tcp = ['tcp', 'tcp6'].flatMap(table => rowsOf(table).flatMap(row => (row[3] === '0A' ? (row[9] ?? []) : [])))
  // Flag 0x10000 is __SO_ACCEPTCON.
  const unix = rowsOf('unix').flatMap(row => (row[3] === '00010000' ? (row[6] ?? []) : []))
  return new Set([...tcp, ...unix].filter(inode => own.has(inode)))
}

function rowsOf(table: string): readonly (readonly string[])[] {
  const lines = readProc('self', `net/${table}`).trim().split('\n').slice(1)
  return lines.map(line => line.trim().split(/\s+/))
}

function descriptors(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap(name => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)]
    } catch {
      // The one with which the list was read.
      return []
    }
  })
}

/** Processes that this one has started, and theirs. One that has ended and was not looked after yet has no program any more. */
function descendants(): readonly number[] {
  const parents = new Map(
    processIds().map(pid => [pid, Number(/^PPid:\s*(\d+)$/m.exec(readProc(pid, 'status'))?.[1] ?? 0)]),
  )
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === process.pid || isOurs(parent))
  }
  return [...parents.keys()].filter(isOurs)
}

function processIds(): readonly number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter(pid => {
      try {
        readlinkSync(`/proc/${pid}/exe`)
        return true
      } catch {
        // It has ended, or is a kernel thread.
        return false
      }
    })
}

function readProc(pid: number | 'self', file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // It ended meanwhile.
    return ''
  }
}
