import type { StepRecord } from '../../../training/records.ts'
import type { ViewProps } from '../app.tsx'
import { Chart } from '../charts/chart.tsx'
import { type Curves, passRateOption, type RatePoint, stepLineOption, toCurves } from '../charts/training-options.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { DataTable, type Row } from '../parts/table.tsx'
import { count, decimal, duration, percent, plural } from '../words.ts'

/** How well the policy does, step by step. */
export function Training({ state, isDark }: ViewProps) {
  const { steps, evaluations } = state
  if (steps.length === 0 && evaluations.length === 0)
    return (
      <Panel title="Training">
        <Empty
          what="No step is over yet."
          how="The curve begins with the first evaluation or step of `troupe train`. A job of `troupe eval` trains nothing and has none."
        />
      </Panel>
    )
  const version = `${steps.length} ${steps.at(-1)?.step} ${evaluations.length}`
  const curves = toCurves(steps, evaluations)
  const lines = [
    {
      name: 'spread',
      title: 'Spread within groups',
      colour: 3,
      fromZero: true,
      digits: 2,
      of: (step: StepRecord) => step.groupSpread,
    },
    { name: 'loss', title: 'Loss', colour: 4, fromZero: false, digits: 1, of: (step: StepRecord) => step.loss },
  ] as const
  return (
    <>
      <Panel title="Pass rate by training steps taken">
        <Chart
          title="Pass rate by training steps taken"
          isTitled={false}
          says={tellCurves(curves)}
          height={320}
          version={version}
          isDark={isDark}
          option={ink => passRateOption(curves, ink)}
          table={{
            caption: 'Pass rates with 95 % intervals',
            columns: [
              { name: 'what' },
              { name: 'after steps', kind: 'number' },
              { name: 'solved', kind: 'number' },
              { name: 'runs', kind: 'number' },
              { name: 'pass rate', kind: 'number' },
              { name: 'low', kind: 'number' },
              { name: 'high', kind: 'number' },
            ],
            rows: () => [
              ...curves.train.map(point => toRow('train', point)),
              ...curves.splits.flatMap(({ split, points }) => points.map(point => toRow(split, point))),
            ],
          }}
        />
      </Panel>
      {steps.length > 0 && (
        <div class="columns">
          {lines.map(({ name, title, colour, fromZero, digits, of }) => (
            <Panel key={name} title={`${title} by step`}>
              <Chart
                title={`${title} by step`}
                isTitled={false}
                says={tellLine(steps, of, digits)}
                height={200}
                version={version}
                isDark={isDark}
                option={ink => stepLineOption(steps, { name, colour, fromZero, of }, ink)}
                table={{
                  caption: `${title} by step`,
                  columns: [{ name: 'step' }, { name, kind: 'number' }],
                  rows: () =>
                    steps.map(step => ({ key: String(step.step), cells: [step.step + 1, decimal(of(step), 3)] })),
                }}
              />
            </Panel>
          ))}
        </div>
      )}
      <Panel title="Steps" note={plural(steps.length, 'step')}>
        {steps.length === 0 ? (
          <Empty what="Evaluated, but not trained yet." how="Each step adds a row when its optimiser step is done." />
        ) : (
          <Steps steps={steps} />
        )}
      </Panel>
    </>
  )
}

function toRow(what: string, { at, solved, runs, rate, low, high }: RatePoint): Row {
  const cells = [what, count(at), count(solved), count(runs), percent(rate), percent(low), percent(high)]
  return { key: `${what} ${at}`, cells }
}

function tellCurves({ train, splits }: Curves): string {
  const tell = (name: string, points: readonly RatePoint[]) => {
    const [first, last] = [points.at(0), points.at(-1)]
    if (first === undefined || last === undefined) return []
    const then = first === last ? '' : ` → ${percent(last.rate)} after ${plural(last.at, 'step')}`
    return [`${name} ${percent(first.rate)}${then}`]
  }
  const told = [...splits.flatMap(({ split, points }) => tell(split, points)), ...tell('train', train)]
  return `${told.join('; ')}. Band and bars: 95 % intervals.`
}

function tellLine(steps: readonly StepRecord[], of: (step: StepRecord) => number | null, digits: number): string {
  const values = steps.flatMap(step => of(step) ?? [])
  const [first, last] = [values.at(0), values.at(-1)]
  if (first === undefined || last === undefined) return 'No step has one.'
  const range = `between ${decimal(Math.min(...values), digits)} and ${decimal(Math.max(...values), digits)}`
  return `${decimal(first, digits)} at first, ${decimal(last, digits)} now, ${range}.`
}

function Steps({ steps }: { readonly steps: readonly StepRecord[] }) {
  return (
    <DataTable
      caption="Steps, newest first"
      columns={[
        { name: 'step' },
        ...[
          'solved',
          'runs',
          'pass rate',
          'not graded',
          'spread',
          'loss',
          'samples',
          'chunks',
          'rollouts',
          'training',
          'in all',
        ].map(name => ({ name, kind: 'number' as const })),
        { name: 'end' },
      ]}
      rows={steps.toReversed().map(step => ({
        key: String(step.step),
        cells: [
          step.step + 1,
          count(step.solved),
          count(step.runs),
          percent(step.passRate),
          count(step.errored),
          decimal(step.groupSpread),
          decimal(step.loss, 1),
          count(step.datums),
          count(step.chunks),
          duration(step.rolloutMs),
          duration(step.trainMs),
          duration(step.wallMs),
          step.end.type === 'trained' ? `policy ${step.optimStep ?? '–'}` : `skipped: ${step.end.reason}`,
        ],
      }))}
    />
  )
}
