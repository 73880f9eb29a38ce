import { Environment, gradeCommand, z } from 'troupe/environment'
import { BUG_NAMES, brokenScript } from './bugs.ts'
import { HIDDEN, SHOWN, toCsv, totalOf } from './orders.ts'

export const env = new Environment('my-environment', { version: '0.1.0', workspace: true })

export const fixTotal = env.template(
  'fix_total',
  {
    description: 'Repair a shell script that adds up orders.',
    args: z.object({ bug: z.enum(BUG_NAMES) }),
    columns: ({ bug }) => ({ bug }),
  },
  async function* ({ bug }, { workspace, signal }) {
    await workspace.write('total.sh', brokenScript(bug))
    await workspace.write('orders.csv', toCsv(SHOWN))

    yield [
      'total.sh prints what the paid orders in a file come to, in cents. It has a bug; repair it.',
      `For orders.csv it should print ${totalOf(SHOWN)}. Try it with: bash total.sh orders.csv`,
    ].join('\n')

    // In a fresh directory, with orders that the agent has not seen: of its files only the script is taken.
    const { score, info } = await gradeCommand({
      workspace,
      command: 'bash total.sh hidden.csv',
      take: ['total.sh'],
      files: new Map([['hidden.csv', toCsv(HIDDEN)]]),
      signal,
    })

    // Compared out here: what the script could read, it could print.
    const isRight = score === 1 && String(info?.stdout).trim() === String(totalOf(HIDDEN))
    yield { score: isRight ? 1 : 0, info: { ...info } }
  },
)
