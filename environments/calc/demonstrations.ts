/**
 * What the base policy of this environment is warmed up with: an expert that goes through calc.py function by function, looks at
 * each and at its tests, edits what is broken, and errs on purpose. `troupe policy make` turns it into `policy.base`.
 */
import { chatTools } from 'troupe'
import type { Demonstration, DemonstrationSource } from 'troupe/policy'
import { PROMPT } from './env.ts'
import { type CalcFunction, calcSource, functionSource, functions } from './functions.ts'
import { functionOf, testSource } from './tests.ts'
import { brokenIn, FIRST_HELD_OUT, VARIANTS } from './variants.ts'

/**
 * Share of repairs that are one of the mistaken ones. None is left out: to unlearn that, the policy would come to prefer edits
 * wherever it stands.
 */
const NOISE = 0.38

/** Share of turns that see a call fail, so that the policy has seen that too: a failed edit is let be, a failed look ends the work. */
const FAILURES = 0.02
const EDIT_FAILED = 'error: oldString not found'
const LOOK_FAILED = 'error: the arguments of read are no JSON object; it was not run'

type Random = () => number
interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

const source: DemonstrationSource = {
  name: 'calc',
  tools: chatTools(['read', 'edit']),
  settings: {
    width: 64,
    heads: 4,
    layers: 2,
    context: 96,
    merges: 400,
    steps: 220,
    batch: 64,
    learningRate: 6e-3,
    sharpen: 2,
    seed: 1,
  },
  corpus() {
    const edits = functions.flatMap(each => [
      lineOf(each, each.buggy),
      ...[each.correct, ...each.mistaken].map(way => lineOf(each, way)),
    ])
    return [PROMPT, 'ok', DONE, 'read', 'edit', CALC, TESTS, calcSource([]), calcSource(NAMES), testSource, ...edits]
  },
  draw: random => demonstrate(drawBroken(random), random),
}

export default source

const CALC = 'calc.py'
const TESTS = 'test_calc.py'
const DONE = 'done'
const NAMES = functions.map(({ name }) => name)

/** Any set of broken functions but the empty one and those that are held out of training. */
function drawBroken(random: Random): readonly string[] {
  for (;;) {
    const broken = NAMES.filter(() => random() < 0.5)
    if (broken.length > 0 && !HELD_OUT.has(keyOf(broken))) return broken
  }
}

const keyOf = (names: readonly string[]) => [...names].sort().join()
const HELD_OUT = new Set(
  Array.from({ length: VARIANTS - FIRST_HELD_OUT }, (_, place) => keyOf(brokenIn(FIRST_HELD_OUT + place))),
)

/** One turn for each function, each with what the policy sees in it: the answers to the calls of the turn before. */
function demonstrate(broken: readonly string[], random: Random): Demonstration[] {
  const turns: Demonstration[] = []
  let context: Demonstration['context'] = [{ role: 'user', content: PROMPT }]
  let answers: string[] = []
  const say = (calls: readonly Call[]) => {
    turns.push({
      context,
      reply: { content: calls.length === 0 ? DONE : '', toolCalls: calls },
    })
    context = answers.map((content, place) => ({ role: 'tool', tool_call_id: `call-${place}`, content }))
    answers = []
  }
  const look = (each: CalcFunction | undefined): Call[] => {
    if (each === undefined) return []
    answers.push(functionSource(each, broken.includes(each.name) ? each.buggy : each.correct), testsOf(each))
    return [read(CALC, linesOf(each)), read(TESTS, testLinesOf(each))]
  }
  say(look(functions[0]))
  for (const [place, each] of functions.entries()) {
    const edit = broken.includes(each.name) ? chooseEdit(each, random) : []
    answers.push(...edit.map(() => (random() < FAILURES ? EDIT_FAILED : 'ok')))
    say([...edit, ...look(functions[place + 1])])
    if (random() < FAILURES) {
      context = [{ role: 'tool', tool_call_id: 'call-0', content: LOOK_FAILED }]
      break
    }
  }
  if (context.length > 0) say([])
  return turns
}

function chooseEdit(each: CalcFunction, random: Random): Call[] {
  const mistaken = each.mistaken[Math.floor(random() * each.mistaken.length)] ?? each.buggy
  const repaired = random() < NOISE ? mistaken : each.correct
  const oldString = lineOf(each, each.buggy)
  return [{ name: 'edit', arguments: { filePath: CALC, oldString, newString: lineOf(each, repaired) } }]
}

/** The line with the expression, without its indentation. */
function lineOf(each: CalcFunction, expression: string): string {
  return `${each.head.slice(each.head.lastIndexOf('\n') + 1).trimStart()}${expression}`
}

interface Lines {
  /** From 1. */
  readonly first: number
  readonly count: number
}

function read(filePath: string, { first, count }: Lines): Call {
  return { name: 'read', arguments: { filePath, offset: first, limit: count } }
}

function linesOf(each: CalcFunction): Lines {
  return findLines(calcSource([]), functionSource(each, each.correct))
}

function testLinesOf(each: CalcFunction): Lines {
  return findLines(testSource, testsOf(each))
}

function findLines(text: string, part: string): Lines {
  const at = text.indexOf(part)
  return { first: text.slice(0, at).split('\n').length, count: part.split('\n').length - 1 }
}

/** The tests of a function, which stand together. */
function testsOf({ name }: CalcFunction): string {
  const tests = testSource.split(/^(?=def )/m).filter(test => functionOf(/^def (\w+)/.exec(test)?.[1] ?? '') === name)
  return `${tests.join('').trimEnd()}\n`
}
