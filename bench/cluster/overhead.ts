import { type Figure, median, toCell, toFigure } from '../measure.ts'
import type { BenchRow } from '../table.ts'
import { measureBy } from './one.ts'
import type { Kind, OverheadCase, Turn } from './overhead-main.ts'
import type { Round } from './overhead-round.ts'

const WIDTH = 256
const THREADS = 1
const AIM_PERCENT = 10

interface Work extends Pick<OverheadCase, 'work' | 'warmUps' | 'agent' | 'rollouts'> {
  readonly name: string
  readonly quickRollouts: number
}

const NOOP = { work: 'noop', warmUps: [1_024, 1_024, 1_024, 1_024] } as const

/** Agents that wait are in no step with each other, as those of models are not. */
const WORKS: readonly Work[] = [
  { ...NOOP, name: 'agents that do nothing', agent: {}, rollouts: 6_000, quickRollouts: 2_000 },
  { ...NOOP, name: 'the same with 15 kB each', agent: { turns: 2 }, rollouts: 6_000, quickRollouts: 2_000 },
  {
    ...NOOP,
    name: 'agents that wait 1 to 3 s',
    agent: { waitMs: 2_000, spread: 0.5 },
    rollouts: 2_048,
    quickRollouts: 1_024,
  },
  {
    work: 'calc',
    warmUps: [64],
    name: 'repairs of environments/calc',
    agent: {},
    rollouts: 512,
    quickRollouts: 256,
  },
]

/** The same rollouts in threads and by a worker, 256 wide, on this machine, in one run, taking turns. */
export async function overheadRows(quick: boolean, signal: AbortSignal | undefined): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const { name, quickRollouts, ...work } of WORKS) {
    const given: OverheadCase = {
      ...work,
      turns: quick ? 2 : 4,
      rollouts: quick ? quickRollouts : work.rollouts,
      width: WIDTH,
      threads: THREADS,
    }
    rows.push(...toRows(name, await measureBy<readonly Turn[]>('overhead-main', given, signal)))
  }
  return rows
}

function toRows(name: string, turns: readonly Turn[]): readonly BenchRow[] {
  const of = (kind: Kind, pick: (round: Round) => number): Figure => toFigure(turns.map(turn => pick(turn[kind])))
  const ratio = toFigure(turns.map(({ threaded, clustered }) => clustered.perSecond / threaded.perSecond)).value
  const cpuRatio = median(turns.map(({ threaded, clustered }) => cpuOf(clustered) / cpuOf(threaded)))
  const lostPercent = (1 - ratio) * 100
  const cpu = (part: string, pick: (round: Round) => number): BenchRow => ({
    name: `  ${part}`,
    ...toCell(of('clustered', pick), 'ms a rollout'),
  })
  return [
    { name: `${name}, ${WIDTH} wide, in a thread`, ...toCell(of('threaded', perSecond), 'rollouts/s') },
    { name: '  CPU of all processes', ...toCell(of('threaded', cpuOf), 'ms a rollout') },
    {
      name: `${name}, ${WIDTH} wide, on a worker`,
      ...toCell(of('clustered', perSecond), 'rollouts/s'),
      reference: 'in a thread',
      ratio,
    },
    {
      name: '  what it costs of the throughput',
      value: lostPercent,
      unit: '%',
      aim: `< ${AIM_PERCENT} %`,
      met: lostPercent < AIM_PERCENT,
    },
    {
      name: '  CPU of all processes',
      ...toCell(of('clustered', cpuOf), 'ms a rollout'),
      reference: 'in a thread',
      ratio: cpuRatio,
    },
    cpu('of it the coordinator', ({ coordinatorMs }) => coordinatorMs),
    cpu('of it the worker', ({ workerMs }) => workerMs),
    cpu('of it the environment', ({ hostMs }) => hostMs),
    cpu('of it nats-server', ({ natsMs }) => natsMs),
    {
      name: '  messages in and out of NATS',
      ...toCell(
        of('clustered', each => each.messages),
        'a rollout',
      ),
    },
    {
      name: '  the same',
      ...toCell(
        of('clustered', each => each.messagesPerSecond),
        '/s',
      ),
    },
    {
      name: '  bytes in and out of NATS',
      ...toCell(
        of('clustered', each => each.bytes / 1e3),
        'kB a rollout',
      ),
    },
  ]
}

const perSecond = (round: Round): number => round.perSecond

const cpuOf = ({ coordinatorMs, workerMs, hostMs, natsMs }: Round): number => coordinatorMs + workerMs + hostMs + natsMs
