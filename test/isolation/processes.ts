import { type Attempt, escapes, python, saidSo } from './attempt.ts'
import { MARK } from './places.ts'

const [ATTACH, SEIZE] = [16, 0x4206]

/** Other processes: the server, other sessions' commands, whatever the machine runs. */
export const processes: readonly Attempt[] = [
  {
    what: 'see the processes of the machine',
    command: () => 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm 2>/dev/null | tr "\\0" " "; ps -eo args 2>/dev/null',
    got: printed => /troupe-environment|test\/support\/run-file/.test(printed) || printed.includes(MARK),
    bare: true,
  },
  {
    what: 'have more processes around it than its own',
    command: () => 'ls -d /proc/[0-9]* 2>/dev/null | wc -l',
    got: printed => Number(printed) > 6,
    bare: true,
  },
  {
    what: 'kill the server by its number',
    command: ({ server }) => `for name in KILL TERM STOP; do kill -$name ${server} 2>/dev/null ${escapes}; done`,
    got: saidSo,
  },
  {
    what: 'kill the server’s process group and its own',
    command: ({ server }) => `kill -KILL -- -${server} 2>/dev/null ${escapes}; kill -KILL 0`,
    got: saidSo,
  },
  {
    what: 'kill everything that can be killed',
    command: () => 'kill -KILL -1; kill -STOP -1',
    got: () => false, // told by the server and the neighbour, which are looked at after each
  },
  {
    what: 'trace the server',
    command: ({ server }) =>
      python(`for request in (${ATTACH}, ${SEIZE}):
    if libc.ptrace(request, ${server}, None, None) == 0: escaped('ptrace')`),
    got: saidSo,
  },
  {
    what: 'read the server’s memory at once, and write to it',
    command: ({ server }) =>
      python(`class Vector(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
here = Vector(ctypes.cast(buffer, ctypes.c_void_p), 64)
for place in (0x400000, 0x10000, 0x7ffff000):
    there = Vector(place, 64)
    for call in (libc.process_vm_readv, libc.process_vm_writev):
        ctypes.set_errno(0)
        if call(${server}, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0: escaped('vm')
        # 3: there is no such process. Anything else was an answer about one that is there.
        elif ctypes.get_errno() != 3: escaped('vm', ctypes.get_errno())`),
    got: saidSo,
  },
  {
    what: 'open the server’s memory, descriptors and directories in /proc',
    command: ({ server }) =>
      python(`for name in ('mem', 'maps', 'environ', 'cmdline', 'fd', 'cwd', 'root', 'ns/net'):
    if os.path.lexists('/proc/${server}/' + name): escaped(name)`),
    got: saidSo,
  },
  {
    what: 'use a descriptor that the server left open',
    command: () =>
      python(`for pid in ('1', 'self', str(os.getppid())):
    for fd in os.listdir(f'/proc/{pid}/fd'):
        # Python's own listing of the directory is gone again.
        if int(fd) > 2 and os.path.lexists(f'/proc/{pid}/fd/{fd}'): escaped(pid, fd, os.readlink(f'/proc/{pid}/fd/{fd}'))`),
    got: saidSo,
  },
  {
    what: 'push input into a terminal of the server’s',
    command: () =>
      python(`TIOCSTI = 0x5412
terminals = [0, 1, 2] + [fd for fd in (tries(lambda: os.open(name, os.O_RDWR)) for name in ('/dev/tty', '/dev/console', '/proc/1/fd/0')) if fd is not None]
for fd in terminals:
    if tries(lambda: fcntl.ioctl(fd, TIOCSTI, b'x')) is not None: escaped('pushed', fd)`),
    got: saidSo,
  },
  {
    what: 'push input into a terminal of its own, as it would into one that it shares',
    command: () =>
      python(`import pty
leader, follower = pty.openpty()
if os.fork() == 0:
    os.setsid()
    tries(lambda: fcntl.ioctl(follower, 0x540e, 0))
    if tries(lambda: fcntl.ioctl(follower, 0x5412, b'x')) is not None: escaped('pushed')
    os._exit(0)
os.wait()`),
    got: saidSo,
    // Newer kernels allow it to nobody, so that it need not succeed without a sandbox either.
  },
  {
    what: 'raise its own limits',
    command: () =>
      `for limit in '-v unlimited' '-u 100000' '-f unlimited' '-n 1000000' '-t unlimited' '-c unlimited'; do (ulimit -H $limit) 2>/dev/null ${escapes} $limit; done; prlimit --nproc=100000:100000 --pid $$ 2>/dev/null ${escapes} prlimit; renice -n -5 $$ >/dev/null 2>&1 ${escapes} nice; chrt -f -p 10 $$ 2>/dev/null ${escapes} realtime`,
    got: saidSo,
  },
]
