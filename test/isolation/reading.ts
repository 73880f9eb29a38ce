import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Attempt, escapes, saidSo } from './attempt.ts'
import { MARK } from './places.ts'

const tellsSecret = (printed: string): boolean => printed.includes(MARK)
const tellsAnything = (printed: string): boolean => printed.trim() !== ''

/** Where a sandbox may have something mounted: nothing but what `bubblewrapArgv` puts there. */
const MOUNTS = /^\/(usr|bin|sbin|lib\w*|tmp|home\/agent|workspace|proc(\/.*)?|dev(\/.*)?|etc\/.+)?$/

/** The host's files, the server's keys, the neighbours' workspaces. */
export const reading: readonly Attempt[] = [
  {
    what: 'read the password hashes of the machine',
    command: () => 'cat /etc/shadow /etc/shadow- /etc/gshadow 2>/dev/null',
    got: printed => /^root:/m.test(printed),
  },
  {
    what: 'read who uses the machine',
    command: () => 'cat /etc/passwd',
    got: printed => /^root:/m.test(printed),
    bare: true,
  },
  {
    what: 'list the homes of root and of whoever runs the server',
    command: () => `for home in /root ${process.env.HOME ?? '/root'}; do ls -A $home 2>/dev/null; done`,
    got: tellsAnything,
  },
  {
    what: 'read the source of the engine',
    command: ({ repository }) => `cat ${repository}/package.json 2>/dev/null`,
    got: printed => printed.includes('"troupe"'),
  },
  {
    what: 'read a file of the host that everybody may read',
    command: ({ secretFile }) => `cat ${secretFile}`,
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'read it through the links of /proc',
    command: ({ secretFile }) =>
      `for root in /proc/self/root /proc/1/root /proc/$$/root /proc/self/cwd/../../../../.. /proc/1/cwd/../..; do cat $root${secretFile}; done 2>/dev/null`,
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'read it through links made in the workspace',
    command: ({ secretFile, directory }) =>
      `ln -s ${secretFile} a; ln -s ${directory} b; ln -s /proc/1/root c; cat a b/secret.txt c${secretFile} 2>/dev/null; rm a b c`,
    got: tellsSecret,
    bare: true,
  },
  {
    what: 'see other mounts than its own',
    command: () => "cut -d' ' -f5 /proc/self/mountinfo",
    got: printed =>
      printed
        .trim()
        .split('\n')
        .some(path => !MOUNTS.test(path)),
    bare: true,
  },
  {
    what: 'find the server’s keys in its own variables',
    command: () => 'env; set; export -p; tr "\\0" "\\n" < /proc/self/environ',
    got: printed =>
      tellsSecret(printed) || /^(declare -x )?(HUD_|DAYTONA_|TROUPE_|\w+_(API_KEY|TOKEN)\b)/m.test(printed),
  },
  {
    what: 'find them in the variables of any process there is',
    command: () => 'cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr "\\0" "\\n"',
    got: tellsSecret,
  },
  {
    what: 'find them in the server’s, by its number',
    command: ({ server }) => `cat /proc/${server}/environ /proc/${server}/cmdline 2>/dev/null`,
    got: tellsAnything,
  },
  {
    what: 'find them in files',
    command: () =>
      'grep -rIsl "do-not-tel[l]" /etc /home /tmp /var /run /srv /opt /mnt /root /dev/shm /workspace 2>/dev/null',
    got: tellsAnything,
  },
  {
    what: 'read another session’s workspace by its path on the host',
    command: ({ theirs }) => `cat ${theirs}/secret.txt; ls -A ${theirs} ${dirname(theirs)} 2>/dev/null`,
    got: printed => tellsSecret(printed) || printed.includes('secret.txt\n'),
  },
  {
    what: 'read it next door',
    command: () =>
      'cat ../*/secret.txt ../session-*/secret.txt ../../*/secret.txt ../../*/session-*/secret.txt /workspace*/secret.txt 2>/dev/null',
    got: tellsSecret,
  },
  {
    what: 'read another session’s temporary files, home and shared memory',
    command: () => 'cat /tmp/theirs ~/theirs /dev/shm/theirs 2>/dev/null',
    got: tellsSecret,
  },
]

const SYSTEM = '/ /usr /usr/bin /usr/local/bin /etc /bin /lib /dev /proc /proc/sys /home /root /var /opt'

/** Everything outside the workspace, /tmp and the home. */
export const writing: readonly Attempt[] = [
  {
    what: 'write into the system’s directories',
    command: () => `for place in ${SYSTEM}; do (: > $place/troupe-escape) 2>/dev/null ${escapes} $place; done`,
    got: saidSo,
  },
  {
    what: 'change programs and settings that the host runs by',
    command: () =>
      `for file in /usr/bin/python3 /usr/bin/bwrap /bin/bash /bin/sh /etc/passwd /etc/ld.so.cache /etc/hosts; do (: >> $file) 2>/dev/null ${escapes} $file; done`,
    got: saidSo,
  },
  {
    what: 'write where everybody on the host may',
    command: ({ written }) => `echo mine > ${written}; echo mine > /proc/1/root${written}`,
    got: (_, { written }) => existsSync(written),
    bare: true,
  },
  {
    what: 'give a system file a second name in the workspace',
    command: () =>
      `for file in /usr/bin/env /etc/passwd /usr/bin/su; do ln $file hard-link 2>/dev/null ${escapes} $file; done`,
    got: saidSo,
  },
  {
    what: 'change settings of the kernel',
    command: () =>
      `for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /proc/sys/kernel/ns_last_pid; do value=$(cat $file); (echo "$value" > $file) 2>/dev/null ${escapes} $file; done; (echo h > /proc/sysrq-trigger) 2>/dev/null ${escapes} sysrq`,
    got: saidSo,
  },
  {
    what: 'go behind others in the kernel’s order of what to end first',
    command: () => `(echo -1000 > /proc/self/oom_score_adj) 2>/dev/null ${escapes}`,
    got: saidSo,
  },
]
