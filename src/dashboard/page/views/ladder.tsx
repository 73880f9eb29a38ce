import type { LadderPointReply, LadderReply } from '../../routes.ts'
import type { ViewProps } from '../app.tsx'
import { Chart } from '../charts/chart.tsx'
import { ladderOption, strategiesOf } from '../charts/ladder-options.ts'
import { Empty, Fold, Panel } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { askLadders } from '../requests.ts'
import { toHash } from '../route.ts'
import { count } from '../words.ts'

const HOW = '`troupe ladder --emulator` measures one and writes its receipt; receipts beside the journal are found.'

/** How soon sandboxes are ready, by how many are asked for at once. */
export function Ladder({ place, isDark }: ViewProps) {
  const answer = useAnswer('ladders', askLadders)
  if (answer.type === 'waiting') return <p class="quiet">Reading receipts …</p>
  if (answer.type === 'refused') return <Empty what="The receipts cannot be read." how={answer.message} />
  const { ladders, unreadable } = answer.reply
  const [fullest] = ladders.toSorted((one, other) => other.points.length - one.points.length)
  const chosen = ladders.find(({ name }) => name === place.id) ?? fullest
  return (
    <>
      {ladders.length > 1 && (
        <nav aria-label="Ladders">
          <ul class="choices">
            {ladders.map(({ name, title }) => (
              <li key={name}>
                <a href={toHash({ ...place, id: name })} aria-current={name === chosen?.name ? 'true' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      {chosen === undefined ? (
        <Panel title="Ladder">
          <Empty what="No receipt was found." how={HOW} />
        </Panel>
      ) : (
        <One key={chosen.name} ladder={chosen} isDark={isDark} />
      )}
      {unreadable.length > 0 && (
        <Panel title="Not readable">
          <ul>
            {unreadable.map(({ file, message }) => (
              <li key={file}>
                <code>{file}</code>: {message}
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

const WORK_WORDS = { infra: 'Sandboxes', rollout: 'Rollouts' } as const

function One({ ladder, isDark }: { readonly ladder: LadderReply; readonly isDark: boolean }) {
  const works = [...new Set(ladder.points.map(({ work }) => work))]
  return (
    <Panel
      title={ladder.title}
      controls={<a href={`/ladders/${encodeURIComponent(ladder.name)}`}>The whole page of this ladder</a>}
    >
      {works.map(work => {
        const points = ladder.points.filter(point => point.work === work)
        return (
          <Chart
            key={work}
            title={`${WORK_WORDS[work]}: seconds until ready, by how many at once`}
            says={tell(points)}
            height={320}
            version={`${ladder.name} ${work}`}
            isDark={isDark}
            option={ink => ladderOption(points, ink)}
            table={{
              caption: `${WORK_WORDS[work]}: medians over the repetitions`,
              columns: [
                { name: 'strategy' },
                ...['at once', 'repetitions', 'ok', 'failed', 'p50 s', 'p95 s', 'wall s'].map(name => ({
                  name,
                  kind: 'number' as const,
                })),
              ],
              rows: () =>
                points.map(point => ({
                  key: `${point.strategy} ${point.n}`,
                  cells: [
                    point.strategy,
                    count(point.n),
                    count(point.repetitions),
                    count(point.ok),
                    count(point.failed),
                    figure(point.figures.ready_p50_s),
                    figure(point.figures.ready_p95_s),
                    figure(point.figures.wall_s),
                  ],
                })),
            }}
          />
        )
      })}
      <Fold summary="How it was measured">
        {() => (
          <DataTable
            caption="What the receipt says of itself"
            columns={[{ name: 'what' }, { name: 'value', kind: 'wide' }]}
            rows={Object.entries(ladder.about).map(([key, value]) => ({ key, cells: [key, value] }))}
          />
        )}
      </Fold>
    </Panel>
  )
}

/** The widest level of each strategy, in words. */
function tell(points: readonly LadderPointReply[]): string {
  return strategiesOf(points)
    .map(strategy => {
      const widest = points
        .filter(point => point.strategy === strategy)
        .reduce((one, other) => (other.n > one.n ? other : one))
      return `${strategy}: median ${figure(widest.figures.ready_p50_s)} s at ${count(widest.n)}`
    })
    .join('; ')
}

const figure = (value: number | undefined) => (value === undefined ? '–' : String(Number(value.toPrecision(4))))
