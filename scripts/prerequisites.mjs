/**
 * Makes sure of what npm cannot install: bubblewrap, and the system's Python with pytest; with `--browser` of Chromium, too, in which the tests
 * look at the dashboard; with `--nats` of nats-server, for the tests of several machines and `npm run cluster:demo`. Runs before `npm start` and `npm test`; says nothing when all is there. As root on Debian or Ubuntu it installs what is missing, elsewhere it prints the
 * commands to run and exits with 1. Plain JavaScript, because nothing is built yet.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const MIN_NODE = [20, 19]
const PYTHON = '/usr/bin/python3'
/** TROUPE_CHROMIUM names another one than Debian's. */
const CHROMIUM = process.env.TROUPE_CHROMIUM ?? '/usr/bin/chromium'
/** TROUPE_NATS_SERVER names another one than Debian's. */
const NATS_SERVER = process.env.TROUPE_NATS_SERVER ?? '/usr/sbin/nats-server'
const PACKAGES = [
  { name: 'bubblewrap', present: () => succeeds('bwrap', ['--version']) },
  { name: 'util-linux', present: () => existsSync('/usr/bin/prlimit') },
  { name: 'python3', present: () => existsSync(PYTHON) },
  { name: 'python3-pytest', present: hasPytest },
  ...(process.argv.includes('--browser') ? [{ name: 'chromium', present: () => existsSync(CHROMIUM) }] : []),
  ...(process.argv.includes('--nats') ? [{ name: 'nats-server', present: () => existsSync(NATS_SERVER) }] : []),
]

requireNode()
const missing = PACKAGES.filter(({ present }) => !present()).map(({ name }) => name)
if (missing.length > 0) install(missing)
requireSandbox()

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [minMajor, minMinor] = MIN_NODE
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return
  refuse([`Node ${process.versions.node} is too old: install ${MIN_NODE.join('.')} or later.`])
}

/** Starting Python to import pytest takes 200 ms; looking for its files takes none. */
function hasPytest() {
  if (!existsSync(PYTHON)) return false
  if (existsSync('/usr/lib/python3/dist-packages/pytest')) return true
  return succeeds(PYTHON, ['-s', '-c', 'import pytest'])
}

function install(packages) {
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...packages]
  const byHand = [`Missing: ${packages.join(', ')}. Run:`, '  sudo apt-get update', `  sudo ${command.join(' ')}`]
  if (!existsSync('/etc/debian_version')) {
    refuse([
      `Missing: ${packages.join(', ')} (Debian's names). Install bubblewrap, Python 3 with pytest for ${PYTHON}, and for the tests Chromium as ${CHROMIUM} and nats-server as ${NATS_SERVER}, with this system's package manager.`,
    ])
  }
  if (process.getuid?.() !== 0) refuse(byHand)
  process.stderr.write(`troupe: installing ${packages.join(', ')}\n`)
  if (!aptGet(command) && !(aptGet(['apt-get', 'update']) && aptGet(command))) refuse(byHand)
  if (packages.includes('nats-server')) endDebiansNats()
  const still = PACKAGES.filter(({ present }) => !present()).map(({ name }) => name)
  if (still.length > 0)
    refuse([`apt-get ran, but these are still not usable: ${still.join(', ')}.`, ...byHand.slice(1)])
}

/** Debian's package starts a server that anybody on this machine may use, now and after each boot. Nothing here needs it. */
function endDebiansNats() {
  if (!existsSync('/run/systemd/system')) return
  const { status, stderr } = spawnSync('systemctl', ['disable', '--now', 'nats-server.service'], { encoding: 'utf8' })
  if (status !== 0)
    process.stderr.write(
      `troupe: Debian's nats-server.service may be running: ${stderr?.trim() || `status ${status}`}\n`,
    )
}

/** apt's own output goes to stderr: stdout belongs to the program that runs next. */
function aptGet([file, ...args]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(file, ['-q', ...args], { env, stdio: ['ignore', 2, 2] }).status === 0
}

function requireSandbox() {
  const probe = ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '/usr/bin/true']
  const { status, stderr } = spawnSync('bwrap', probe, { encoding: 'utf8' })
  if (status === 0) return
  refuse([
    `bubblewrap cannot make a sandbox here: ${stderr?.trim() || `exit status ${status}`}`,
    'Allow user namespaces:',
    '  sudo sysctl -w user.max_user_namespaces=65536 kernel.apparmor_restrict_unprivileged_userns=0',
    'or, in Docker, start the container with:',
    '  docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined ...',
    'or run troupe with --unsafe-no-isolation, where the machine is a sandbox of its own.',
  ])
}

function succeeds(file, args) {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0
}

function refuse(lines) {
  process.stderr.write(`${lines.map((line, index) => (index === 0 ? `troupe: ${line}` : line)).join('\n')}\n`)
  process.exit(1)
}
