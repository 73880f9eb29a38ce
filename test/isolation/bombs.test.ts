/** What an agent's commands may use up. After each the server and a neighbour's command live, and the next command runs. */
import { existsSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { diskUsageOf } from '../../src/environment/workspace/disk-usage.ts'
import { familyOf } from '../../src/environment/workspace/process-usage.ts'
import { hasTag } from '../../src/errors.ts'
import type { CommandResult } from '../../src/wire/shell.ts'
import { suite } from '../support/suite.ts'
import { python, saidSo } from './attempt.ts'
import { makeNeighbour, type Neighbour } from './neighbour.ts'
import { findServer, findWorkspace } from './places.ts'
import { CALC, type Served, serve } from './served.ts'
import { tally } from './tally.ts'

const test = suite('attempts to use the machine up')
const count = tally('attempts to use the machine up')
const MIB = 1024 * 1024
const LIMITS = {
  cpuSeconds: 20,
  memoryBytes: 320 * MIB,
  processes: 40,
  fileBytes: 8 * MIB,
  diskBytes: 32 * MIB,
} as const

let served: Served
let neighbour: Neighbour
let server: number
test.before(async () => {
  served = await serve(CALC, { limits: LIMITS })
  neighbour = await makeNeighbour(await served.open())
  server = findServer()
})
test.after(async () => {
  await neighbour?.close()
  await served?.close()
})

/** What is wrong with the machine afterwards. */
async function damage(): Promise<readonly string[]> {
  return [
    ...(existsSync(`/proc/${server}`) ? [] : ['the server is gone']),
    ...(neighbour.isRunning() ? [] : ['a neighbour’s command has ended']),
    ...((await neighbour.answers()) ? [] : ['a neighbour gets no command through']),
  ]
}

interface Bomb {
  readonly what: string
  readonly command: string
  /** What it got, by name; nothing where it was held. Also where it was killed at its deadline, when there is no result. */
  readonly gains: (result: CommandResult | undefined) => readonly string[]
  readonly timeoutMs?: number
}

const unsaid = (result: CommandResult | undefined): readonly string[] =>
  result !== undefined && saidSo(result.stdout) ? [result.stdout] : []

/** The watch ended it, and said why. */
const endedFor = (why: string) => (result: CommandResult | undefined) =>
  result?.exitCode === 137 && result.stderr.includes(why) ? [] : [`it was not ended: ${JSON.stringify(result)}`]

const bombs: readonly Bomb[] = [
  {
    what: 'processes without end',
    command: python(`made = 0
end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            while True: tries(os.fork)
        made += 1
    except OSError: pass
    if made > ${LIMITS.processes}: escaped(made); break`),
    gains: unsaid,
    timeoutMs: 4_000,
  },
  {
    what: 'the bomb of the shell',
    command: 'bomb() { bomb | bomb & }; bomb; sleep 60',
    gains: unsaid,
    timeoutMs: 1_500,
  },
  {
    what: 'more memory than one process may have',
    command: python(`try:
    room = b'x' * ${2 * LIMITS.memoryBytes}
    escaped('one')
except MemoryError: pass`),
    gains: unsaid,
  },
  {
    what: 'more memory than all its processes may have together',
    command: python(`for _ in range(8):
    if os.fork() == 0:
        room = b'x' * ${100 * MIB}
        time.sleep(10)
        os._exit(0)
for _ in range(8): os.wait()
escaped('many')`),
    gains: endedFor('MiB of memory'),
  },
  {
    what: 'a full /tmp, home and shared memory',
    command: python(`for place, most in (('/tmp', 256), ('/home/agent', 256), ('/dev/shm', 64)):
    for number in range(${Math.ceil((320 * MIB) / LIMITS.fileBytes)}):
        try:
            with open(f'{place}/{number}', 'wb') as file: file.write(bytes(${LIMITS.fileBytes}))
        except OSError: break
    held = os.statvfs(place)
    if held.f_blocks * held.f_frsize > most * ${MIB}: escaped(place)
    for name in os.listdir(place): os.unlink(f'{place}/{name}')`),
    gains: unsaid,
  },
  {
    what: 'a file that grows without end',
    command: `(cat /dev/zero > big) 2>/dev/null; test $(stat -c %s big) -le ${LIMITS.fileBytes} || echo ESC''APED; rm big`,
    gains: unsaid,
  },
  {
    what: 'output without end',
    command: 'head -c 100000000 /dev/zero | tr "\\0" x; head -c 100000000 /dev/zero >&2',
    gains: result => ((result?.stdout.length ?? 0) + (result?.stderr.length ?? 0) > 4 * MIB ? ['too much output'] : []),
  },
  {
    what: 'a command without end',
    command: 'trap "" TERM INT HUP; while :; do :; done',
    gains: result => (result === undefined ? [] : ['it ended by itself']),
    timeoutMs: 500,
  },
]

for (const { what, command, gains, timeoutMs = 20_000 } of bombs) {
  test(what, async () => {
    const session = await served.open()
    try {
      const before = familyOf(server).length
      const result = await session.shell.exec(command, { timeoutMs }).catch((error: unknown) => {
        if (hasTag(error, 'command-timeout')) return undefined
        throw error
      })
      const after = familyOf(server).length
      count(what, [
        ...gains(result),
        ...(after === before ? [] : [`${after - before} processes stayed`]),
        ...((await session.shell.exec('echo next')).stdout === 'next\n' ? [] : ['the next command did not run']),
        ...(await damage()),
      ])
    } finally {
      await session.close()
    }
  })
}

/** Slow enough that what it writes between two looks does not matter: a MiB every 5 ms. */
const FILLING = `for number in range(400):
    with open(str(number), 'wb') as file: file.write(os.urandom(4096) * 256)
    time.sleep(0.005)
escaped('disk')`
const FILLING_UNSEEN = `kept = []
for number in range(50):
    kept.append(open('unseen', 'wb'))
    os.unlink('unseen')
    for _ in range(7):
        kept[-1].write(os.urandom(4096) * 256)
        kept[-1].flush()
        time.sleep(0.005)
escaped('disk')`

for (const [what, code] of [
  ['a full disk', FILLING],
  ['a full disk of files that have no name any more', FILLING_UNSEEN],
] as const) {
  test(`${what}: ended, and no more commands run there`, async () => {
    const session = await served.open()
    try {
      await session.shell.writeFile('name.txt', what)
      const directory = findWorkspace('name.txt', what)
      const result = await session.shell.exec(python(code), { timeoutMs: 20_000 })
      const { bytes } = await diskUsageOf(directory, {
        bytes: Number.POSITIVE_INFINITY,
        files: Number.POSITIVE_INFINITY,
      })
      const next = await session.shell.exec('echo more >> more').catch((error: unknown) => error)
      count(what, [
        ...endedFor('the workspace holds more than')(result),
        ...(bytes < 160 * MIB ? [] : [`it holds ${bytes} bytes`]),
        ...(hasTag(next, 'workspace-full') ? [] : ['another command ran']),
        ...(await damage()),
      ])
      assert.is(await session.shell.readFile('name.txt'), what, 'what is there can still be graded')
    } finally {
      await session.close()
    }
  })
}

test('none of them succeeded', () => {
  count.tell()
  assert.equal(count.succeeded(), [])
})

test.run()
