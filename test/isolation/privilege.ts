import { type Attempt, escapes, python, saidSo } from './attempt.ts'

const DEVICES = 'null|zero|full|random|urandom|tty|console|ptmx|pts|shm|mqueue|fd|stdin|stdout|stderr|core'

/** More rights than a sandbox has, and the kernel's own doors. */
export const privilege: readonly Attempt[] = [
  {
    what: 'have a capability',
    command: () => 'grep -E "Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status /proc/1/status',
    got: printed => /Cap\w+:\t0*[1-9a-f]/.test(printed),
    bare: true,
  },
  {
    what: 'become root through programs that may make one',
    command: () =>
      `for way in 'su root -c' 'sudo -n' 'pkexec' 'newgrp root' 'setpriv --reuid 0' 'capsh --uid=0 --'; do $way id -u </dev/null 2>/dev/null | grep -x 0 ${escapes} $way; done`,
    got: saidSo,
  },
  {
    what: 'keep the set-user bit of a program',
    command: () =>
      `cp /usr/bin/id mine && chmod 4755 mine; for file in $(find /usr /bin /sbin -xdev -perm -4000 2>/dev/null); do test -u $file && echo found; done | head -1; grep NoNewPrivs /proc/self/status; ./mine -u`,
    // The bit is there to be seen; what it would do is what the kernel was told not to.
    got: printed => !printed.includes('NoNewPrivs:\t1') || /^0$/m.test(printed),
    bare: true,
  },
  {
    what: 'mount something',
    command: () =>
      `mkdir -p m; for call in '-t tmpfs none m' '-t proc none m' '-t sysfs none m' '-t overlay none m' '--bind / m' '--rbind /proc m' '-o remount,rw /' '-o remount,rw /usr' '-o remount,bind,rw /usr'; do mount $call 2>/dev/null ${escapes} $call; done; for place in /usr /proc /workspace /proc/sys; do umount -l $place 2>/dev/null ${escapes} $place; done`,
    got: saidSo,
  },
  {
    what: 'mount something without asking a program',
    command: () =>
      python(`os.makedirs('m', exist_ok=True)
for kind in (b'tmpfs', b'proc', b'sysfs', b'devtmpfs', b'ext4'):
    if libc.mount(b'none', b'm', kind, 0, None) == 0: escaped('mount', kind)
for flags in (4096, 4096 | 16384, 32 | 4096):
    if libc.mount(b'/', b'm', None, flags, None) == 0: escaped('bind', flags)
if libc.umount2(b'/proc', 2) == 0: escaped('umount')
for number in (428, 430, 432):
    if libc.syscall(number, -100, b'/', 1) >= 0: escaped('call', number)`),
    got: saidSo,
  },
  {
    what: 'make namespaces in which it would be root',
    command: () =>
      `for kind in -U -Ur -Urm -Urn -Urp -Uri -UrC; do unshare $kind --fork true 2>/dev/null ${escapes} $kind; done; bwrap --dev-bind / / true 2>/dev/null ${escapes} bwrap`,
    got: saidSo,
    bare: true,
  },
  {
    what: 'make them with clone',
    command: () =>
      python(`number = {'x86_64': 56, 'aarch64': 220}.get(platform.machine())
for flag in (0x10000000, 0x00020000, 0x40000000, 0x10020000):
    child = libc.syscall(number, ctypes.c_long(flag | signal.SIGCHLD), None, None, None, None) if number else -1
    if child == 0: os._exit(0)
    if child > 0: os.waitpid(child, 0); escaped('clone', hex(flag))`),
    got: saidSo,
    bare: true,
  },
  {
    what: 'enter the namespaces of others',
    command: ({ server }) =>
      `for way in '-t 1 -a' '-t ${server} -a' '-t 1 -m' '-t 1 -U' '-t 1 -n'; do nsenter $way true 2>/dev/null ${escapes} $way; done; chroot / true 2>/dev/null ${escapes} chroot`,
    got: saidSo,
  },
  {
    what: 'make a device',
    command: () =>
      `for device in 'disk b 254 0' '/tmp/disk b 254 0' 'memory c 1 1' '/dev/shm/log c 1 11'; do mknod $device 2>/dev/null ${escapes} $device; done`,
    got: saidSo,
  },
  {
    what: 'find other devices than the harmless ones',
    command: () =>
      `ls /dev | grep -vxE '${DEVICES}' | head -3 | sed 's/^/device /'; ls /sys/class /sys/block 2>/dev/null`,
    got: printed => printed.trim() !== '',
    bare: true,
  },
  {
    what: 'read the kernel’s log and memory',
    command: () =>
      `dmesg 2>/dev/null | head -1 | grep . ${escapes} log; for file in /proc/kcore /dev/kmsg /dev/mem /proc/kmsg /proc/kpagecount; do (head -c 1 $file | grep -q .) 2>/dev/null ${escapes} $file; done`,
    got: saidSo,
  },
  {
    what: 'use the kernel’s keyrings, which a session may inherit from whoever started it',
    command: () =>
      python(`add, ask, key = {'x86_64': (248, 249, 250), 'aarch64': (217, 218, 219)}.get(platform.machine(), (-1, -1, -1))
for ring in (-3, -4, -5):
    if libc.syscall(key, 0, ring, 1) >= 0: escaped('keyring', ring)
if libc.syscall(add, b'user', b'troupe', b'x', 1, -3) >= 0: escaped('add')`),
    got: saidSo,
    bare: true,
  },
  {
    what: 'load programs into the kernel, or count and trap its events',
    command: () =>
      python(`numbers = {'x86_64': (321, 298, 323, 425), 'aarch64': (280, 241, 282, 425)}.get(platform.machine(), ())
room = ctypes.create_string_buffer(256)
for number in numbers:
    ctypes.set_errno(0)
    found = libc.syscall(number, 0, room, 128, 0, 0)
    # 1 and 38: not allowed, not there. Anything else means that somebody looked at what was asked.
    if found >= 0 or ctypes.get_errno() not in (1, 38): escaped(number, ctypes.get_errno())`),
    got: saidSo,
  },
]
