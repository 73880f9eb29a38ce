import { Component } from 'preact'
import { useState } from 'preact/hooks'
import type { FeedWorkers } from '../../../feed/messages.ts'
import type { KnownWorker } from '../../../telemetry/channels.ts'
import type { ViewProps } from '../app.tsx'
import { clockOf } from '../model/state.ts'
import { ORDERS, type Order, toShown, type WorkersShown } from '../model/workers.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { clockTime, count, decimal, elapsed } from '../words.ts'
import { tellFate, tellHere } from './workers-words.ts'

/** Who rolls out, of a job on several machines, and who did so shortly before. */
export function Workers({ state }: ViewProps) {
  const [order, choose] = useState<Order>('name')
  const { workers, job } = state
  if (workers === null)
    return (
      <Panel title="Workers">
        <Empty
          what="Nobody tells of workers."
          how="A job on one machine has none; of one on several (--cluster), only the engine itself knows them."
        />
      </Panel>
    )
  const at = clockOf(state, performance.now())
  return <Listed workers={workers} order={order} onOrder={choose} at={at} isOver={job?.source === 'over'} />
}

interface ListedProps {
  readonly workers: FeedWorkers
  readonly order: Order
  readonly onOrder: (order: Order) => void
  readonly at: number
  readonly isOver: boolean
}

/** There may be hundreds of workers, told of once a second: between that, nothing is made anew. */
const STALE_MS = 1_000

class Listed extends Component<ListedProps> {
  override shouldComponentUpdate({ workers, order, at, isOver }: ListedProps): boolean {
    const before = this.props
    const isSame = workers === before.workers && order === before.order && isOver === before.isOver
    return !isSame || at - before.at >= STALE_MS
  }

  override render({ workers, order, onOrder, at, isOver }: ListedProps) {
    const shown = toShown(workers, order)
    return (
      <>
        <Panel
          title="Workers"
          note={isOver ? 'as they were last heard of, before the job was over' : tellHere(workers, shown)}
          controls={<OrderChoice order={order} onOrder={onOrder} />}
        >
          <Sums workers={workers} shown={shown} />
          {shown.here.length === 0 ? (
            <Empty what="No worker is there." how="`troupe worker --nats` with the same server joins by itself." />
          ) : (
            <Here workers={shown.here} at={at} />
          )}
          {shown.unlisted > 0 && <p class="quiet">{count(shown.unlisted)} more are there, and not listed.</p>}
        </Panel>
        <Panel title="Gone" note="within the last ten minutes, the last one first">
          {shown.gone.length === 0 ? (
            <Empty
              what="None has gone."
              how="Workers that are lost or leave stay here for a while, with what they had."
            />
          ) : (
            <Gone workers={shown.gone} at={at} hasOthers={shown.here.some(worker => worker.state === 'joined')} />
          )}
        </Panel>
      </>
    )
  }
}

function OrderChoice({ order, onOrder }: { readonly order: Order; readonly onOrder: (order: Order) => void }) {
  return (
    <label>
      <span>Order</span>
      <select
        value={order}
        onChange={event => onOrder(ORDERS.find(each => each === event.currentTarget.value) ?? 'name')}
      >
        {ORDERS.map(each => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}

function Sums({ workers, shown }: { readonly workers: FeedWorkers; readonly shown: WorkersShown }) {
  const { credits, creditsFree } = workers
  const facts = [
    ['Rollouts', `${count(shown.rollouts)} of ${count(credits)}`],
    ['Free', count(creditsFree)],
    ['Ended', `${decimal(shown.rate, 1)} / s`],
    ['Sandboxes', count(shown.sandboxes)],
  ] as const
  return (
    <div class="progress">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="bar thin" aria-hidden="true">
        <span style={{ width: widthOf(shown.rollouts, credits), background: 'var(--accent)' }} />
      </div>
    </div>
  )
}

const HERE: readonly Column[] = [
  { name: 'worker' },
  { name: 'state' },
  { name: 'rollouts' },
  { name: 'groups', kind: 'number' },
  { name: 'ended / s', kind: 'number' },
  { name: 'ended', kind: 'number' },
  { name: 'sandboxes', kind: 'number' },
  { name: 'there for', kind: 'number' },
  { name: 'host' },
]

function Here({ workers, at }: { readonly workers: readonly KnownWorker[]; readonly at: number }) {
  return (
    <DataTable
      caption="Workers that are there; those that are silent or drain come first"
      columns={HERE}
      rows={workers.map(worker => ({
        key: worker.node,
        cells: [
          <Name key="node" node={worker.node} />,
          <State key="state" worker={worker} at={at} />,
          <Load key="load" worker={worker} />,
          count(worker.groups),
          decimal(worker.rate, 1),
          count(worker.runs),
          count(worker.sandboxes),
          elapsed(at - worker.since),
          worker.host,
        ],
      }))}
    />
  )
}

const GONE: readonly Column[] = [
  { name: 'worker' },
  { name: 'state' },
  { name: 'at' },
  { name: 'what it had', kind: 'wide' },
  { name: 'ended', kind: 'number' },
  { name: 'was there for', kind: 'number' },
  { name: 'host' },
]

interface GoneProps {
  readonly workers: readonly KnownWorker[]
  readonly at: number
  readonly hasOthers: boolean
}

function Gone({ workers, at, hasOthers }: GoneProps) {
  return (
    <DataTable
      caption="Workers that are gone, and what became of what they had"
      columns={GONE}
      rows={workers.map(worker => ({
        key: worker.node,
        cells: [
          <Name key="node" node={worker.node} />,
          <State key="state" worker={worker} at={at} />,
          clockTime(worker.goneAt ?? worker.heardAt),
          tellFate(worker, at, hasOthers),
          count(worker.runs),
          elapsed(worker.heardAt - worker.since),
          worker.host,
        ],
      }))}
    />
  )
}

const SIGNS: Readonly<Record<KnownWorker['state'], string>> = {
  joined: '●',
  draining: '◐',
  silent: '▲',
  lost: '✕',
  left: '○',
}

/** All begin alike: what tells them apart is the host and what the process is called. */
function Name({ node }: { readonly node: string }) {
  return (
    <code class="node" title={node}>
      {node.replace(/^worker-/, '')}
    </code>
  )
}

/** A sign and a word, and of a silent one since when. */
function State({ worker: { state, heardAt }, at }: { readonly worker: KnownWorker; readonly at: number }) {
  return (
    <span class={`standing ${state}`}>
      <span aria-hidden="true">{SIGNS[state]}</span> {state}
      {state === 'silent' && ` ${elapsed(at - heardAt)}`}
    </span>
  )
}

function Load({ worker: { rollouts, credits } }: { readonly worker: KnownWorker }) {
  return (
    <span class="load">
      <span class="bar thin" aria-hidden="true">
        <span style={{ width: widthOf(rollouts, credits) }} />
      </span>
      {count(rollouts)} of {count(credits)}
    </span>
  )
}

/** A group may go over what there is room for. */
function widthOf(rollouts: number, credits: number): string {
  return `${credits === 0 ? 0 : Math.min(1, rollouts / credits) * 100}%`
}
