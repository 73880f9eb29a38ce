/** The lists of `troupe top`, in the order of their keys. */
export const LISTS = ['rollouts', 'groups', 'failures', 'problems', 'workers'] as const
/** One of them. */
export type ListName = (typeof LISTS)[number]

/** By what rollouts are sorted: the one that has gone on longest first, the one longest in its phase, or by task. */
export const SORTS = ['longest', 'phase', 'task'] as const
/** One of those. */
export type Sort = (typeof SORTS)[number]

/** What somebody who watches has chosen. */
export interface TopView {
  /** Which list has the room; `all` shares it. */
  readonly list: ListName | 'all'
  readonly sort: Sort
}

export const FIRST_VIEW: TopView = { list: 'all', sort: 'longest' }

/** What a key asks for. */
export type KeyPress = { readonly type: 'quit' } | { readonly type: 'view'; readonly view: TopView }

const CTRL_C = '\u0003'
const TAB = '\t'

/** `lists`: those that there are. Undefined for a key that means nothing. */
export function pressKey(view: TopView, key: string, lists: readonly ListName[]): KeyPress | undefined {
  if (key === 'q' || key === 'Q' || key === CTRL_C) return { type: 'quit' }
  if (key === TAB) return { type: 'view', view: { ...view, list: next(['all', ...lists], view.list) } }
  if (key === 's') return { type: 'view', view: { ...view, sort: next(SORTS, view.sort) } }
  if (key === '0') return { type: 'view', view: { ...view, list: 'all' } }
  const list = /^[1-9]$/.test(key) ? lists[Number(key) - 1] : undefined
  return list === undefined ? undefined : { type: 'view', view: { ...view, list } }
}

function next<Item>(items: readonly Item[], now: Item): Item {
  return items[(items.indexOf(now) + 1) % items.length] ?? now
}
