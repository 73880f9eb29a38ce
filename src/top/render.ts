import type { FeedState } from '../feed/messages.ts'
import { toHeader } from './header.ts'
import { type List, toLists } from './lists.ts'
import { fit } from './text.ts'
import { FIRST_VIEW, LISTS, type ListName, type TopView } from './view.ts'

/** Columns and rows. Rows may be `Infinity`: then all there is to show is shown, as far as anybody wants to read it. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** What makes a line stand out; each must add no columns. */
export interface Paint {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
}

const PLAIN: Paint = { strong: text => text, faint: text => text }
/** How many entries a list has where it shares the room, while the rollouts get what is left. */
const SHARED = { groups: 4, workers: 5, failures: 3, problems: 2 } as const
/** In this order, below the rollouts. */
const OTHERS = ['groups', 'workers', 'failures', 'problems'] as const
/** Rows: title, heads and an entry. */
const LEAST_ROLLOUTS = 3
/** Where nothing limits the rows. */
const MOST_SHOWN = 20

/** The whole screen: lines of at most `columns`, as many as `rows` or fewer. The same state, size and view give the same text. */
export function renderTop(
  state: FeedState,
  { columns, rows }: Size,
  view: TopView = FIRST_VIEW,
  paint: Paint = PLAIN,
): string {
  const isEndless = rows === Number.POSITIVE_INFINITY
  const header = toHeader(state, columns).map((line, index) => {
    const fitted = fit(line, columns)
    return index === 0 ? paint.strong(fitted) : fitted
  })
  const footer = isEndless ? [] : [paint.faint(fit(tellKeys(listsOf(state)), columns))]
  const lists = toLists(state, view.sort, columns)
  const room = isEndless ? rows : rows - header.length - footer.length
  const body =
    view.list === 'all' ? shareRoom(lists, room, columns, paint) : showList(lists[view.list], room, columns, paint)
  if (isEndless) return [...header, ...body].join('\n')
  const filled = [...body, ...Array.from({ length: Math.max(0, room - body.length) }, () => '')]
  return [...header, ...filled, ...footer].slice(0, rows).join('\n')
}

/** Those that there are: on one machine there is none of workers. */
export function listsOf(state: FeedState | undefined): readonly ListName[] {
  return state?.workers === undefined ? LISTS.filter(name => name !== 'workers') : LISTS
}

function tellKeys(lists: readonly ListName[]): string {
  const names = lists.map((name, index) => `${index + 1} ${name}`)
  return `q quit   tab next list   ${['0 all', ...names].join('  ')}   s sort`
}

/** A list with its title and heads, in so many rows at most; none where not even an entry has room. */
function showList(
  { title, head, count, lines, empty }: List,
  room: number,
  columns: number,
  paint: Paint,
): readonly string[] {
  const most = Number.isFinite(room) ? Math.floor(room) - 2 : MOST_SHOWN
  if (most < 1) return []
  const more = count > most ? `, ${count - most} more` : ''
  return [
    paint.strong(fit(`── ${title}${more} ${'─'.repeat(columns)}`, columns).replace(/…$/, '─')),
    ...(count === 0 ? [paint.faint(fit(empty, columns))] : [paint.faint(fit(head, columns)), ...lines(most)]),
  ]
}

/** Lists that have nothing to show have no room; the rollouts get what the others leave. */
function shareRoom(lists: ReturnType<typeof toLists>, room: number, columns: number, paint: Paint): readonly string[] {
  const others = OTHERS.filter(name => lists[name].count > 0)
  let left = room
  const sections = new Map<string, readonly string[]>()
  // Those that tell what goes wrong are served first, and never take all.
  for (const name of others.toReversed()) {
    const wanted = Math.min(SHARED[name], lists[name].count) + 2
    if (left - wanted < Math.max(LEAST_ROLLOUTS, Number.isFinite(room) ? room / 3 : 0)) continue
    const section = showList(lists[name], wanted, columns, paint)
    sections.set(name, section)
    left -= section.length
  }
  const rollouts = showList(lists.rollouts, left, columns, paint)
  return [...rollouts, ...others.flatMap(name => sections.get(name) ?? [])]
}
