import { type Attempt, python, saidSo } from './attempt.ts'
import { MARK } from './places.ts'

/** Connects and reads what comes, a second each at most. */
const CONNECT = `def connect(family, where):
    with socket.socket(family) as s:
        s.settimeout(1)
        s.connect(where)
        return s.recv(200)
`

const tellsSecret = (printed: string): boolean => printed.includes(MARK)

/** The network, which is off, and sockets that are no network. */
export const network: readonly Attempt[] = [
  {
    what: 'reach the control channel on loopback',
    command: ({ controlPort }) =>
      python(`def dial():
    with socket.create_connection(('127.0.0.1', ${controlPort}), 1): return True
if tries(dial): escaped('control')`),
    got: saidSo,
    bare: true,
  },
  {
    what: 'reach a server on the host by any of its addresses',
    command: ({ addresses, port }) =>
      python(`${CONNECT}
for address in ${JSON.stringify(addresses)}: print(tries(lambda: connect(socket.AF_INET, (address, ${port}))))`),
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'reach a socket of the host’s by its path',
    command: ({ socketPath }) => python(`${CONNECT}\nprint(tries(lambda: connect(socket.AF_UNIX, '${socketPath}')))`),
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'reach a socket of the host’s that has a name and no path',
    command: ({ abstractName }) =>
      python(`${CONNECT}\nprint(tries(lambda: connect(socket.AF_UNIX, '\\0${abstractName}')))`),
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'find any socket in the file system',
    command: () => 'find / -path /proc -prune -o -type s -print 2>/dev/null',
    got: printed => printed.trim() !== '',
  },
  {
    what: 'reach what another session listens on',
    command: () =>
      python(`${CONNECT}
for family, where in ((socket.AF_INET, ('127.0.0.1', 4567)), (socket.AF_UNIX, '/tmp/theirs.sock'), (socket.AF_UNIX, '\\0theirs')):
    print(tries(lambda: connect(family, where)))`),
    got: tellsSecret,
  },
  {
    what: 'look up a name, or send to a name server',
    command: () =>
      python(`if tries(lambda: socket.getaddrinfo('example.com', 80)): escaped('name')
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: return s.sendto(b'x', ('192.0.2.1', 53))
if tries(send): escaped('datagram')`),
    got: saidSo,
  },
  {
    what: 'open raw and packet sockets',
    command: () =>
      python(`for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_INET6, socket.SOCK_RAW, 58), (socket.AF_PACKET, socket.SOCK_RAW, 768), (socket.AF_PACKET, socket.SOCK_DGRAM, 768)):
    if tries(lambda: socket.socket(family, kind, protocol)): escaped('socket', family, kind)`),
    got: saidSo,
  },
  {
    what: 'open sockets of families that no namespace holds: a virtual machine’s host, the kernel’s ciphers',
    command: () =>
      python(`for family in (40, 38, 31, 44):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, 5):
        if tries(lambda: socket.socket(family, kind)): escaped('socket', family, kind)`),
    got: saidSo,
  },
  {
    what: 'have an interface beside loopback, or make one',
    command: () =>
      python(`names = [name for _, name in socket.if_nameindex()]
if names != ['lo']: escaped(*names)
# SIOCSIFFLAGS and SIOCADDRT: both need what the sandbox does not have.
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    if tries(lambda: fcntl.ioctl(s, 0x8914, b'lo'.ljust(16, b'\\0') + (0x41).to_bytes(2, 'little') + bytes(22))) is not None: escaped('flags')`),
    got: saidSo,
  },
]
