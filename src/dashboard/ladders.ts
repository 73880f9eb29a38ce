import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { toErrorData } from '../errors.ts'
import {
  LADDER_COLUMNS,
  type LadderFigure,
  type LadderPoint,
  PUBLISHED_LADDER_NAME,
  PUBLISHED_LADDER_RECEIPT,
  PUBLISHED_LADDER_TEXT,
  type Receipt,
  readReceiptFile,
  toLadderPoints,
  toLadderRows,
} from '../receipts/index.ts'
import { hide } from '../redact.ts'
import { ladderNotFound } from './errors.ts'
import type { LadderPointReply, LadderReply, LaddersReply } from './routes.ts'

/** The ladder receipts of some directories, looked for anew each time: they are few and small. */
export interface Ladders {
  list(): Promise<LaddersReply>
  /** HTML that needs nothing else. Rejects with `ladder-not-found`, and with what is wrong with the receipt. */
  page(name: string): Promise<string>
}

/** Where a clone of the repository has them. */
export const OWN_RECEIPTS = 'bench/receipts'
const MOST_FILES = 200
const ENDING = '.csv'

interface Found {
  readonly ladders: ReadonlyMap<string, Receipt>
  readonly unreadable: LaddersReply['unreadable']
}

/** Of the published ladder, of this directory's own receipts where it has some, and of `directories`. */
export function makeLadders(directories: readonly string[]): Ladders {
  return {
    async list() {
      const { ladders, unreadable } = await find([OWN_RECEIPTS, ...directories])
      const replies: LadderReply[] = []
      const refused = [...unreadable]
      for (const [name, receipt] of ladders) {
        try {
          replies.push(toReply(name, receipt))
        } catch (error) {
          refused.push({ file: `${name}${ENDING}`, message: hide(toErrorData(error).message) })
        }
      }
      return { ladders: replies, unreadable: refused }
    },
    async page(name) {
      const { ladders } = await find([OWN_RECEIPTS, ...directories])
      const receipt = ladders.get(name)
      if (receipt === undefined) throw ladderNotFound(name, [...ladders.keys()])
      // The library of charts is loaded for those who look.
      const { toLadderPage } = await import('../ladder/page/index.ts')
      const other = name === PUBLISHED_LADDER_NAME ? [] : [PUBLISHED_LADDER_RECEIPT]
      return toLadderPage([receipt, ...other])
    },
  }
}

async function find(directories: readonly string[]): Promise<Found> {
  const ladders = new Map<string, Receipt>([[PUBLISHED_LADDER_NAME, PUBLISHED_LADDER_RECEIPT]])
  const unreadable: { readonly file: string; readonly message: string }[] = []
  for (const directory of directories)
    for (const file of await receiptsIn(directory)) {
      try {
        // The published one is here already.
        if ((await readFile(file, 'utf8')) === PUBLISHED_LADDER_TEXT) continue
        const receipt = await readReceiptFile(file)
        if (receipt.kind === 'ladder') ladders.set(toFreeName(basename(file, ENDING), ladders), receipt)
      } catch (error) {
        unreadable.push({ file, message: hide(toErrorData(error).message) })
      }
    }
  return { ladders, unreadable }
}

async function receiptsIn(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory)
    return names
      .filter(name => name.endsWith(ENDING))
      .sort()
      .slice(0, MOST_FILES)
      .map(name => join(directory, name))
  } catch {
    // Not there, or not to be read: then there are none in it.
    return []
  }
}

/** Two directories may have files of one name. */
function toFreeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`
  return free
}

function toReply(name: string, receipt: Receipt): LadderReply {
  const rows = receipt.rows.length === 0 ? [] : toLadderRows(receipt, name)
  const { title } = receipt.about
  return {
    name,
    title: title === undefined || title === '' ? name : title,
    about: receipt.about,
    points: toLadderPoints(rows).map(toPoint),
    rows,
  }
}

const isFigure = (column: string): column is LadderFigure =>
  !['n', 'mode', 'ok', 'failed', 'work', 'errors', 'rep'].includes(column)

function toPoint({ work, strategy, n, rows, ok, failed, figure }: LadderPoint): LadderPointReply {
  const figures: Partial<Record<LadderFigure, number>> = {}
  for (const column of LADDER_COLUMNS) {
    const found = isFigure(column) ? figure(column)?.median : undefined
    if (found !== undefined && isFigure(column)) figures[column] = found
  }
  return { work, strategy, n, repetitions: rows.length, ok, failed, figures }
}
