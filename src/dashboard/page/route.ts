/** The tabs, in their order; each has the address `#/ID`. */
export const TABS = [
  { id: 'now', name: 'Now' },
  { id: 'lanes', name: 'Lanes' },
  { id: 'groups', name: 'Groups' },
  { id: 'training', name: 'Training' },
  { id: 'failures', name: 'Failures' },
  { id: 'workers', name: 'Workers' },
  { id: 'run', name: 'Trajectory' },
  { id: 'ladder', name: 'Ladder' },
] as const
export type TabId = (typeof TABS)[number]['id']

/** Where the reader is: a tab, of `run` and `ladder` which one, and which job. */
export interface Place {
  readonly tab: TabId
  /** A run's id, or a ladder's name. */
  readonly id?: string
  /** Absent: the job that the server shows unasked. */
  readonly job?: string
}

/** Of an address's hash. What is no place of ours is the first tab. */
export function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [wanted = '', ...rest] = path.split('/')
  const tab = TABS.find(({ id }) => id === wanted)?.id ?? 'now'
  const id = decode(rest.join('/'))
  const job = new URLSearchParams(query).get('job')
  return { tab, ...(id === '' ? {} : { id }), ...(job === null || job === '' ? {} : { job }) }
}

/** The hash that leads there. */
export function toHash({ tab, id, job }: Place): string {
  const path = id === undefined ? tab : `${tab}/${encodeURIComponent(id)}`
  return `#/${path}${job === undefined ? '' : `?${new URLSearchParams({ job })}`}`
}

/** A per cent sign that encodes nothing stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
