/** The functions of calc.py. Each stands alone, and one line of it decides whether it is right. */
export interface CalcFunction {
  readonly name: string
  /** What comes before the line, and after it. */
  readonly head: string
  readonly tail: string
  readonly correct: string
  readonly buggy: string
  /** Another bug, of which nobody is shown the repair: for measuring what was learned beyond the known ones. */
  readonly unseen: string
  /** Repairs that look right and are not. */
  readonly mistaken: readonly string[]
}

const SQUARES = 'sum((x - m) ** 2 for x in xs)'

/** Variance, deviation and coefficient of variation are those of a sample: n - 1. */
export const functions: readonly CalcFunction[] = [
  {
    name: 'mean',
    head: 'def mean(xs):\n    return ',
    correct: 'sum(xs) / len(xs)',
    buggy: 'sum(xs) // len(xs)',
    unseen: 'sum(xs) * len(xs)',
    tail: '\n',
    mistaken: ['sum(xs) / (len(xs) - 1)', 'max(xs) / len(xs)'],
  },
  {
    name: 'median',
    head: 'def median(xs):\n    s = sorted(xs)\n    h = len(s) // 2\n    return s[h] if len(s) % 2 else ',
    correct: '(s[h - 1] + s[h]) / 2',
    buggy: 's[h - 1]',
    unseen: '(s[h - 1] + s[h]) / 4',
    tail: '\n',
    mistaken: ['(s[h - 1] + s[h]) // 2', 's[h]'],
  },
  {
    name: 'variance',
    head: `def variance(xs):\n    m = sum(xs) / len(xs)\n    return ${SQUARES} / `,
    correct: '(len(xs) - 1)',
    buggy: 'len(xs)',
    unseen: '(len(xs) - 2)',
    tail: '\n',
    mistaken: ['(len(xs) + 1)', 'len(xs) - 1'],
  },
  {
    name: 'stdev',
    head: `def stdev(xs):\n    m = sum(xs) / len(xs)\n    v = ${SQUARES} / (len(xs) - 1)\n    return `,
    correct: 'v ** 0.5',
    buggy: 'v ** 2',
    unseen: 'v',
    tail: '\n',
    mistaken: ['v / 2', 'v ** (1 // 2)'],
  },
  {
    name: 'percentile',
    head: 'def percentile(xs, p):\n    s = sorted(xs)\n    k = (len(s) - 1) * p / 100\n    i = int(k)\n    j = min(i + 1, len(s) - 1)\n    return ',
    correct: 's[i] + (s[j] - s[i]) * (k - i)',
    buggy: 's[i]',
    unseen: 's[j] + (s[j] - s[i]) * (k - i)',
    tail: '\n',
    mistaken: ['s[j]', 's[i] + (s[j] - s[i]) / 2'],
  },
  {
    name: 'mode',
    head: 'def mode(xs):\n    return ',
    correct: 'max(xs, key=xs.count)',
    buggy: 'min(xs, key=xs.count)',
    unseen: 'max(xs, key=abs)',
    tail: '\n',
    mistaken: ['max(xs)', 'max(sorted(xs)[::-1], key=xs.count)'],
  },
  {
    name: 'spread',
    head: 'def spread(xs):\n    return ',
    correct: 'max(xs) - min(xs)',
    buggy: 'max(xs) + min(xs)',
    unseen: 'max(xs) * min(xs)',
    tail: '\n',
    mistaken: ['min(xs) - max(xs)', 'xs[-1] - xs[0]'],
  },
  {
    name: 'cv',
    head: `def cv(xs):\n    m = sum(xs) / len(xs)\n    v = ${SQUARES} / (len(xs) - 1)\n    return `,
    correct: 'v ** 0.5 / m',
    buggy: 'm / v ** 0.5',
    unseen: 'v ** 0.5 + m',
    tail: '\n',
    mistaken: ['v / m', 'v ** 0.5 * m'],
  },
]

export type BugKind = 'known' | 'unseen'

/** calc.py with the named functions broken. */
export function calcSource(broken: readonly string[], bugs: BugKind = 'known'): string {
  return functions.map(each => functionSource(each, expressionIn(each, broken, bugs))).join('\n')
}

function expressionIn(each: CalcFunction, broken: readonly string[], bugs: BugKind): string {
  if (!broken.includes(each.name)) return each.correct
  return bugs === 'known' ? each.buggy : each.unseen
}

export function functionSource({ head, tail }: CalcFunction, expression: string): string {
  return `${head}${expression}${tail}`
}
