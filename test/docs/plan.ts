/** What is to be done with each block of a page. CONTRIBUTING.md has the rule in words. */
import type { Block, Page } from '../../docs/site/page.ts'
import { toCommands } from './console.ts'
import { isService, type Service } from './services.ts'

/** Why a block may stay as it is. */
export const REASONS = [
  'measured',
  'an account',
  'another program',
  'a person',
  'the network',
  'a form',
  'a picture',
  'elsewhere',
] as const
export type Reason = (typeof REASONS)[number]

/** What was printed, as the page has it, and how it may differ. */
export interface Shown {
  readonly line: number
  readonly text: string
  readonly numbersVary: boolean
  readonly orderVaries: boolean
}

export type Step =
  | {
      readonly kind: 'commands'
      readonly line: number
      readonly script: string
      /** How many commands it has. */
      readonly count: number
      readonly exits: number
      readonly isBackground: boolean
      readonly isStandIn: boolean
      readonly shown?: Shown
    }
  | {
      readonly kind: 'file'
      readonly line: number
      readonly name: string
      readonly text: string
      readonly isAdded: boolean
    }
  | {
      readonly kind: 'program'
      readonly line: number
      readonly language: Language
      readonly text: string
      readonly isStandIn: boolean
      readonly shown?: Shown
    }
  | { readonly kind: 'start'; readonly line: number; readonly service: Service }

export type Language = 'ts' | 'js' | 'py'

/** A module or a program, to be checked as it stands. */
export interface Snippet {
  readonly line: number
  readonly language: Language
  /** Where the page writes it, so that others can import it. */
  readonly name?: string
  readonly text: string
}

export interface Plan {
  readonly steps: readonly Step[]
  readonly snippets: readonly Snippet[]
  /** JSON documents, one text each. */
  readonly documents: readonly { readonly line: number; readonly text: string }[]
  readonly skipped: readonly { readonly line: number; readonly reason: Reason; readonly test?: string }[]
  /** What is wrong with the page's notes; nothing may be run then. */
  readonly problems: readonly string[]
}

const NOTES = [
  'not run',
  'run',
  'shorter',
  'with',
  'background',
  'exits',
  'file',
  'append',
  'given',
  'before',
  'shown',
] as const
type NoteName = (typeof NOTES)[number]
const PROGRAMS: Readonly<Record<string, Language>> = { ts: 'ts', js: 'js', mjs: 'js', py: 'py', python: 'py' }

export function planPage(page: Page): Plan {
  const steps: Step[] = []
  const snippets: Snippet[] = []
  const documents: { line: number; text: string }[] = []
  const skipped: { line: number; reason: Reason; test?: string }[] = []
  const problems: string[] = []
  let isOutputOf: Step | undefined
  for (const block of page.blocks) {
    const { language, line, text } = block
    const told = new Map(block.notes.map(({ name, text: said }) => [name, said]))
    const note = (name: NoteName) => told.get(name)
    const complain = (problem: string) => problems.push(`${page.path}:${line}: ${problem}`)
    for (const name of told.keys()) if (!isNote(name)) complain(`"${name}" is no note of a block (${NOTES.join(', ')})`)
    for (const service of (note('with') ?? '').split(',').map(each => each.trim()))
      if (isService(service)) steps.push({ kind: 'start', line, service })
      else if (service !== '') complain(`"with: ${service}" is nothing that can be started`)
    const why = note('not run')
    if (why !== undefined) {
      const reason = REASONS.find(each => why === each || why.startsWith(`${each}, `))
      if (reason === undefined) complain(`"not run: ${why}" is none of the reasons: ${REASONS.join(', ')}`)
      else skipped.push({ line, reason, ...(reason === 'elsewhere' ? { test: why.slice('elsewhere, '.length) } : {}) })
      isOutputOf = undefined
      continue
    }
    const name = note('file') ?? note('append')
    const program = PROGRAMS[language]
    if (name !== undefined) {
      // A row is shown on several lines, and is one.
      const written = language === 'json' && name.endsWith('.jsonl') ? `${oneLine(text)}\n` : text
      steps.push({ kind: 'file', line, name, text: written, isAdded: note('append') !== undefined })
      isOutputOf = undefined
    }
    if (language === 'sh' || language === 'console') {
      const made = toSteps(block, complain)
      steps.push(...made)
      isOutputOf = language === 'sh' ? made.at(-1) : undefined
    } else if (language === 'text') {
      if (isOutputOf === undefined)
        complain('a text block shows what the block before it printed, and that one is not run')
      else replaceLast(steps, isOutputOf, { line, text, ...toVariation(note('shown')) })
      isOutputOf = undefined
    } else if (program !== undefined) {
      const given = note('given')
      const whole = [given ?? note('before') ?? '', text].join('\n')
      snippets.push({ line, language: program, text: whole, ...(name === undefined ? {} : { name }) })
      if (name === undefined && given === undefined) {
        steps.push({ kind: 'program', line, language: program, ...toShorter(whole, note('shorter'), complain) })
        isOutputOf = steps.at(-1)
      }
    } else if (language === 'json') documents.push({ line, text })
    else if (language === 'jsonl')
      for (const [at, each] of text.trim().split('\n').entries()) documents.push({ line: line + at + 1, text: each })
    else if (name === undefined) complain(`a block in "${language}" must say why it is not run`)
  }
  return { steps, snippets, documents, skipped, problems }
}

/** JSON that is malformed stays as it is: it is told where documents are checked. */
function oneLine(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}

function isNote(name: string): name is NoteName {
  return NOTES.some(each => each === name)
}

/** One step for a block of `sh`, one for each command of a `console`. */
function toSteps({ language, line, notes, text }: Block, complain: (problem: string) => void): readonly Step[] {
  const note = (wanted: NoteName) => notes.find(({ name }) => name === wanted)?.text
  const standIn = note('run')
  const exits = Number(note('exits') ?? 0)
  const common = { kind: 'commands', line, isStandIn: standIn !== undefined } as const
  if (language === 'console') {
    const commands = toCommands(text)
    if (commands.length === 0) complain('a console block has a line that begins with "$ "')
    const { isStandIn } = toShorter(text, note('shorter'), complain)
    if (standIn !== undefined)
      return [{ ...common, script: standIn, count: commands.length, exits, isBackground: false }]
    return commands.map(({ command, printed }, at) => ({
      ...common,
      isStandIn,
      script: toShorter(command, note('shorter'), () => {}).text,
      count: 1,
      exits: at === commands.length - 1 ? exits : 0,
      isBackground: false,
      ...(printed === '' ? {} : { shown: { line, text: printed, ...toVariation(note('shown')) } }),
    }))
  }
  const shorter = toShorter(standIn ?? text, note('shorter'), complain)
  const script = shorter.text.trim()
  const inBackground = /(^|[^&])&$/.test(script)
  if (script.split('\n').some((each, at, all) => at < all.length - 1 && /(^|[^&])&$/.test(each.trim())))
    complain('a line that ends with & must be the last of its block')
  return [
    {
      ...common,
      isStandIn: common.isStandIn || shorter.isStandIn,
      script: inBackground ? script.slice(0, -1).trim() : script,
      count: countCommands(text),
      exits,
      isBackground: inBackground || notes.some(({ name }) => name === 'background'),
    },
  ]
}

/** Each line of the note is `this => that`, and its left side must be in the block. */
function toShorter(
  text: string,
  note: string | undefined,
  complain: (problem: string) => void,
): { readonly text: string; readonly isStandIn: boolean } {
  if (note === undefined) return { text, isStandIn: false }
  let shorter = text
  for (const line of note.split('\n')) {
    const [from = '', ...rest] = line.split(' => ')
    const to = rest.length === 0 ? undefined : rest.join(' => ').trim()
    if (to === undefined || !shorter.includes(from)) complain(`"shorter: ${line}" names nothing that is in the block`)
    shorter = shorter.replaceAll(from, to ?? from)
  }
  return { text: shorter, isStandIn: true }
}

/** Lines that are neither empty, comments, nor the rest of the line before. */
function countCommands(text: string): number {
  let isContinued = false
  let count = 0
  for (const line of text.split('\n')) {
    if (!isContinued && line.trim() !== '' && !line.trim().startsWith('#')) count += 1
    isContinued = line.endsWith('\\')
  }
  return count
}

function toVariation(said = ''): Pick<Shown, 'numbersVary' | 'orderVaries'> {
  return { numbersVary: said.includes('numbers vary'), orderVaries: said.includes('order varies') }
}

function replaceLast(steps: Step[], step: Step, shown: Shown): void {
  const at = steps.lastIndexOf(step)
  if (at >= 0 && (step.kind === 'commands' || step.kind === 'program')) steps[at] = { ...step, shown }
}
