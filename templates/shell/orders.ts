export interface Order {
  readonly item: string
  readonly quantity: number
  readonly cents: number
  readonly paid: 'yes' | 'no'
}

/** What the agent sees. */
export const SHOWN: readonly Order[] = [
  { item: 'tea', quantity: 3, cents: 450, paid: 'yes' },
  { item: 'bread', quantity: 1, cents: 380, paid: 'no' },
  { item: 'jam', quantity: 2, cents: 525, paid: 'yes' },
  { item: 'honey', quantity: 4, cents: 790, paid: 'yes' },
]

/** What it is graded on. */
export const HIDDEN: readonly Order[] = [
  { item: 'salt', quantity: 5, cents: 120, paid: 'no' },
  { item: 'oil', quantity: 2, cents: 899, paid: 'yes' },
  { item: 'rice', quantity: 7, cents: 215, paid: 'yes' },
  { item: 'beans', quantity: 1, cents: 160, paid: 'no' },
  { item: 'figs', quantity: 6, cents: 340, paid: 'yes' },
]

/** Without a newline at its end, as spreadsheets write it. */
export function toCsv(orders: readonly Order[]): string {
  const rows = orders.map(({ item, quantity, cents, paid }) => [item, quantity, cents, paid].join(','))
  return ['item,quantity,cents,paid', ...rows].join('\n')
}

export function totalOf(orders: readonly Order[]): number {
  return orders.filter(({ paid }) => paid === 'yes').reduce((sum, { quantity, cents }) => sum + quantity * cents, 0)
}
