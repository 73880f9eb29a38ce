/**
 * The system calls that a sandboxed command may not make, as a seccomp filter (classic BPF, see seccomp(2)) for bwrap to load. A
 * list of what is refused, not of what is allowed: agents run whatever they like, and everything ordinary goes on working.
 * Refused is what namespaces do not hold back: the kernel's log, its keyrings (a session's keyring is inherited), sockets of
 * other families than the usual (a virtual machine's vsock leads straight to its host), and input pushed into a terminal; and,
 * because no program of an agent needs it and it has been a way out before, everything about mounts and namespaces, bpf,
 * performance counters, userfaultfd and io_uring.
 */

/** Each with its number on x64 and on arm64. */
const REFUSED: Readonly<Record<string, readonly [number, number]>> = {
  syslog: [103, 116],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
}

/** Answered as by a kernel that does not have them, so that libraries take the older way; `clone3` has its flags in memory, out of a filter's sight. */
const UNKNOWN: Readonly<Record<string, readonly [number, number]>> = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
}

const CLONE = [56, 220] as const
const IOCTL = [16, 29] as const
const SOCKET = [41, 198] as const
/** As `AUDIT_ARCH_*` has them. */
const MACHINES: Readonly<Record<string, { readonly column: 0 | 1; readonly audit: number }>> = {
  x64: { column: 0, audit: 0xc000_003e },
  arm64: { column: 1, audit: 0xc000_00b7 },
}

/** Numbers from here on are those of x32, a second way to the same calls. */
const X32 = 0x4000_0000
/** All of CLONE_NEW*: cgroup, uts, ipc, user, pid, net, mount. */
const NEW_NAMESPACES = 0x7e02_0000
/** TIOCSTI and TIOCLINUX. */
const TERMINAL_INPUT = [0x5412, 0x541c]
/** Unix, IPv4, IPv6, netlink. */
const FAMILIES = [1, 2, 10, 16]

const [NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT, SECOND_ARGUMENT_AT] = [0, 4, 16, 24]
const [LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06]
const ALLOW = 0x7fff_0000
const ERROR = 0x0005_0000
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97]

interface Line {
  readonly label?: string
  readonly code: number
  readonly value: number
  /** Where to go if the comparison holds; the next line where absent. */
  readonly jump?: string
}

/** The filter as bwrap's `--seccomp` reads it. Undefined on a machine whose numbers are not known here. */
export function syscallFilter(architecture: string = process.arch): Buffer | undefined {
  const machine = MACHINES[architecture]
  if (machine === undefined) return undefined
  const { column, audit } = machine
  const equal = (value: number, jump: string): Line => ({ code: EQUAL, value, jump })
  const load = (value: number, label?: string): Line => ({
    code: LOAD,
    value,
    ...(label === undefined ? {} : { label }),
  })
  const end = (label: string, value: number): Line => ({ code: RETURN, value, label })
  return assemble([
    load(ARCHITECTURE_AT),
    equal(audit, 'known'),
    // 32-bit programs have numbers of their own.
    { code: RETURN, value: ERROR | ENOSYS },
    load(NUMBER_AT, 'known'),
    { code: AT_LEAST, value: X32, jump: 'unknown' },
    ...Object.values(REFUSED).map(numbers => equal(numbers[column], 'refused')),
    ...Object.values(UNKNOWN).map(numbers => equal(numbers[column], 'unknown')),
    equal(CLONE[column], 'clone'),
    equal(IOCTL[column], 'ioctl'),
    equal(SOCKET[column], 'socket'),
    { code: RETURN, value: ALLOW },
    load(FIRST_ARGUMENT_AT, 'clone'),
    { code: ANY_BIT, value: NEW_NAMESPACES, jump: 'refused' },
    { code: RETURN, value: ALLOW },
    load(SECOND_ARGUMENT_AT, 'ioctl'),
    ...TERMINAL_INPUT.map(request => equal(request, 'refused')),
    { code: RETURN, value: ALLOW },
    load(FIRST_ARGUMENT_AT, 'socket'),
    ...FAMILIES.map(family => equal(family, 'allowed')),
    { code: RETURN, value: ERROR | EAFNOSUPPORT },
    end('allowed', ALLOW),
    end('refused', ERROR | EPERM),
    end('unknown', ERROR | ENOSYS),
  ])
}

/** Eight bytes a line: code, how many lines to skip if it holds and if not, value. Jumps go forward only. */
function assemble(lines: readonly Line[]): Buffer {
  const program = Buffer.alloc(8 * lines.length)
  for (const [index, { code, value, jump }] of lines.entries()) {
    const skipped = jump === undefined ? 0 : lines.findIndex(({ label }) => label === jump) - index - 1
    program.writeUInt16LE(code, 8 * index)
    program.writeUInt8(skipped, 8 * index + 2)
    program.writeUInt8(0, 8 * index + 3)
    program.writeUInt32LE(value >>> 0, 8 * index + 4)
  }
  return program
}
