/**
 * Writes docs/errors.md, every tag of an error with what its text says, from the sources (`node scripts/errors-page.mjs`); with `--check` it writes
 * nothing and exits with 1 where the page is not what would be written. Plain JavaScript, because nothing need be built for it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readErrorTags } from './errors/read-tags.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
const page = join(root, 'docs/errors.md')

/** In the order in which a user meets them. The first whose folder a file is in has its errors; the last takes what is left. */
const SECTIONS = [
  ['The command line', 'Nothing was started: correct the command and repeat it.', ['src/cli', 'src/scaffold']],
  ['Tasks and modules', 'Nothing was started either.', ['src/taskset', 'src/modules']],
  ['Jobs', 'Of options, and of how a job ends.', ['src/job', 'src/assembly', 'src/explain']],
  [
    'Agents and models',
    'A rollout whose model cannot be asked has no reward, and is never graded 0.',
    ['src/agents', 'src/models'],
  ],
  ['Rollouts and groups', 'How a rollout ended, in the `error` of its run.', ['src/rollout', 'actors', 'src/stream']],
  ['The sandbox pool', 'Why a request got no sandbox, or one may be left.', ['src/pool']],
  ['Docker', 'See [docker.md](docker.md).', ['src/runtimes/docker']],
  ['Daytona', 'See [daytona.md](daytona.md).', ['src/runtimes/daytona']],
  ['Other runtimes', 'Local, subprocess, url, and what all of them share.', ['src/runtimes']],
  [
    'Environments, workspaces, graders',
    'Most are for the author of the environment; see [environments.md](environments.md).',
    ['src/environment'],
  ],
  ['The control channel', 'Between the engine and an environment.', ['src/wire']],
  [
    'Training',
    'What is in doubt is never sent again; see [trainers.md](trainers.md#what-becomes-of-an-interrupted-call).',
    ['src/training'],
  ],
  ['The embedded policy', 'And its server.', ['src/policy']],
  ['The journal', 'What was acknowledged is safe in all of these but `journal-damaged`.', ['src/journal']],
  ['Threads and actors', 'A thread that is lost is replaced, and its groups go on.', ['src/threads', 'src/kernel']],
  ['Several machines', 'See [scale-out.md](scale-out.md).', ['src/cluster']],
  ['Metrics and events', 'See [metrics.md](metrics.md).', ['src/telemetry']],
  ['HUD’s platform', 'Reports hold up no run; see [platform.md](platform.md).', ['src/platform']],
  [
    'Receipts, ladders, pools measured',
    'See [ladder.md](ladder.md), [warm-pools.md](warm-pools.md) and [tuning.md](tuning.md).',
    ['src/receipts', 'src/ladder', 'src/warmpool', 'src/tune', 'src/simulation'],
  ],
  ['The emulator', 'See [emulator.md](emulator.md).', ['src/emulator']],
  ['Tests of one’s own', 'From `troupe/testing`.', ['src/testing']],
  ['Everything else', 'Errors of other libraries and of Node have their `code` as their tag, in lower case.', ['src']],
]

/** Of errors whose text is made elsewhere, as a whole. */
const SAID_ELSEWHERE = {
  'bad-serve-option': 'An option of a server cannot be used: the text says which, and what it has to be.',
  'docker-image-log': 'No error: a line of the log of a build or a pull.',
  'emulator-refused': 'What the provider would have answered in this place, with its status.',
  'sandbox-ledger-broken':
    'The pool’s own books do not add up: a defect of the engine. The text says which count is off.',
  'snapshot-build-log': 'No error: a line of the log of a build.',
  unexpected:
    'An error that nobody has a tag for: a defect, of ours or of a module of yours. `--debug` shows its stack.',
}

function render(tags) {
  const bySection = new Map(SECTIONS.map(([title]) => [title, []]))
  for (const each of tags) {
    const [title] = SECTIONS.find(([, , folders]) => folders.some(folder => each.path.startsWith(`${folder}/`)))
    bySection.get(title).push(each)
  }
  const names = new Set(tags.map(({ tag }) => tag))
  const sections = SECTIONS.filter(([title]) => bySection.get(title).length > 0).map(([title, says]) =>
    [`## ${title}`, says, table(bySection.get(title))].join('\n\n'),
  )
  return `${[head(names.size), ...sections].join('\n\n')}\n`
}

const head = count => `# Every error, by its tag

An error is a \`TroupeError\` with a \`tag\` for programs and a message that says what is wrong, where, and what to do next. On the command line the message is what is printed;
\`--debug\` adds the tag and the rest of its data. Runs, events and metrics name the tag. This page is made from the sources by \`node scripts/errors-page.mjs\`, and a test fails when
one of the ${count} tags is missing. [operations.md](operations.md) says what to do about those that are met in operation.

Words in ‹these› stand for what is filled in. **Again**: _yes_ where the same rollout is tried again on a fresh sandbox, \`--retries\` times; _may_ where that depends on what happened.`

function table(tags) {
  const rows = [...tags].sort((one, other) => (one.tag < other.tag ? -1 : one.tag > other.tag ? 1 : 0))
  const merged = new Map()
  for (const { tag, again, ...each } of rows) {
    const says = SAID_ELSEWHERE[tag] ?? each.says
    const before = merged.get(tag) ?? { says: [], again: [] }
    if (says !== '' && !before.says.includes(says)) before.says.push(says)
    before.again.push(again)
    merged.set(tag, before)
  }
  return [
    '| tag | what it says | again |',
    '| --- | --- | --- |',
    ...[...merged].map(([tag, { says, again }]) => `| \`${tag}\` | ${says.map(cell).join('<br>')} | ${once(again)} |`),
  ].join('\n')
}

const once = again => (new Set(again).size === 1 ? again[0] : 'may')

/** Text as it stands in a cell: no new line, no bar, nothing that Markdown or HTML would read. */
function cell(says) {
  const line = says.replaceAll(/\s+/g, ' ').trim()
  return line
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll('*', '\\*')
    .replaceAll('_', '\\_')
    .replaceAll('$', '&#36;')
}

const text = render(readErrorTags(root, ['src', 'actors']))
if (process.argv.includes('--check')) {
  if (readFileSync(page, 'utf8') !== text) {
    console.error('docs/errors.md is not what the sources say: write it anew with `node scripts/errors-page.mjs`')
    process.exit(1)
  }
} else writeFileSync(page, text)
