import { parseArgs } from 'node:util'
import { TroupeError } from '../src/errors.ts'
import { BENCHES, type BenchEntry, SETTINGS, type Setting } from './catalog.ts'
import type { LadderArguments } from './ladder/options.ts'

/** What is to be run, and with what. */
export interface BenchPlan {
  readonly entries: readonly { readonly entry: BenchEntry; readonly given: LadderArguments }[]
  readonly quick: boolean
  /** Where the receipt goes; undefined where the one benchmark that was named writes its own. */
  readonly out: string | undefined
}

export const DEFAULT_RECEIPT = '.troupe/bench.csv'

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  out: { type: 'string' },
  levels: { type: 'string' },
  repetitions: { type: 'string' },
  strategies: { type: 'string' },
  parts: { type: 'string' },
  transport: { type: 'string' },
  seed: { type: 'string' },
} as const

/** Everything that can be refused is refused here: throws `bench-option` before anything has begun. `help` where that is all that is asked. */
export async function parseBenchArguments(argv: readonly string[]): Promise<BenchPlan | 'help'> {
  const { values, positionals } = parseKnown(argv)
  const { quick, help, out, ...settings } = values
  if (help) return 'help'
  const unknown = positionals.filter(name => !BENCHES.some(entry => entry.name === name))
  if (unknown.length > 0)
    throw refused(
      `no benchmark is called ${unknown.join(', ')}; there are ${BENCHES.map(each => each.name).join(', ')}`,
    )
  const chosen = positionals.length === 0 ? entriesOfSet(quick) : entriesNamed(positionals)
  for (const setting of SETTINGS)
    if (settings[setting] !== undefined && !chosen.some(({ entry }) => takes(entry, setting)))
      throw refused(`--${setting} is for ${takersOf(setting)}, and that is not to be run`)
  const [only, second] = chosen
  const isOwn = only?.entry.ownReceipt === true && second === undefined
  const entries = chosen.map(({ entry, narrowed }) => ({
    entry,
    given: { ...narrowed, ...settings, quick, out: isOwn ? out : undefined },
  }))
  for (const { entry, given } of entries) await entry.check?.(given)
  return { entries, quick, out: isOwn ? undefined : (out ?? DEFAULT_RECEIPT) }
}

/** One line a benchmark. */
export function formatHelp(): string {
  const width = Math.max(...BENCHES.map(({ name }) => name.length))
  return `npm run bench -- [name…] [--quick] [--out FILE]

${BENCHES.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Without a name: ${setText(false)}. Ladder and peers are narrow then; by name they do all that they can.
--quick              less of each; without a name: ${setText(true)}
--out FILE           the receipt, by default ${DEFAULT_RECEIPT}
${SETTINGS.map(setting => `${`--${setting}`.padEnd(20)} for ${takersOf(setting)}`).join('\n')}
`
}

const takes = (entry: BenchEntry, setting: Setting): boolean => entry.settings?.includes(setting) === true

const takersOf = (setting: Setting): string =>
  BENCHES.filter(entry => takes(entry, setting))
    .map(({ name }) => name)
    .join(' and ')

type Chosen = readonly { readonly entry: BenchEntry; readonly narrowed: Partial<LadderArguments> }[]

const setText = (quick: boolean) =>
  entriesOfSet(quick)
    .map(({ entry }) => entry.name)
    .join(', ')

function entriesOfSet(quick: boolean): Chosen {
  return BENCHES.flatMap(entry => {
    const narrowed = entry.inSet[quick ? 'quick' : 'full']
    return narrowed === undefined ? [] : [{ entry, narrowed }]
  })
}

/** In the order in which they are named, each once. */
function entriesNamed(names: readonly string[]): Chosen {
  return [...new Set(names)].flatMap(name =>
    BENCHES.filter(entry => entry.name === name).map(entry => ({ entry, narrowed: {} })),
  )
}

function parseKnown(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split('. ')
    const options = Object.keys(OPTIONS).map(option => `--${option}`)
    throw refused(`${first}; there are ${options.join(', ')}`)
  }
}

const refused = (message: string): TroupeError => new TroupeError({ tag: 'bench-option', message })
