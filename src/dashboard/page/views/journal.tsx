import type { ViewProps } from '../app.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { count, decimal, percent } from '../words.ts'

/** What can be told of a job whose engine is not here. */
export function Journal({ state }: Pick<ViewProps, 'state'>) {
  return (
    <Panel title="What the journal holds">
      <dl class="facts">
        {toFacts(state).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Empty
        what="The engine's own figures are not here."
        how="A journal that is read knows runs, groups and training, but no pool, credits or load: those are told by the process that runs the job, with --dashboard."
      />
    </Panel>
  )
}

function toFacts({
  runs,
  groups,
  steps,
  evaluations,
  failures,
}: ViewProps['state']): readonly (readonly [string, string])[] {
  const graded = runs.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const passed = graded.filter(reward => reward >= 1).length
  const failed = failures.reduce((sum, each) => sum + each.count, 0)
  const last = evaluations.at(-1)
  return [
    ['Newest runs', count(runs.length)],
    ['of them graded', count(graded.length)],
    ['passed', percent(graded.length === 0 ? null : passed / graded.length)],
    [
      'mean reward',
      decimal(graded.length === 0 ? null : graded.reduce((sum, each) => sum + each, 0) / graded.length, 3),
    ],
    ['Groups over', count(groups.ended().length)],
    ['Without a grade', count(failed)],
    ['Steps', count(steps.length)],
    ...(last === undefined ? [] : [[`Last evaluation, ${last.split}`, percent(last.passRate)] as const]),
  ]
}
