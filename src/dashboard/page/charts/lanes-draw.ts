import type { Phase } from '../../../rollout/run.ts'
import { type TimeWindow, toTicks } from '../model/lane-window.ts'
import type { LaneItem } from '../model/lanes.ts'
import { ALARM_COLOUR, PHASE_LOOKS, PHASE_ORDER, UNSEEN_COLOUR } from '../palette.ts'
import { tokenColour } from '../style/tokens.ts'

/** How the lanes are looked at; lengths in CSS pixels. */
export interface LanesView extends TimeWindow {
  readonly width: number
  readonly height: number
  readonly scrollTop: number
  readonly rowHeight: number
  readonly selected: string | null
  /** Rollouts far beyond their siblings. */
  readonly late: ReadonlySet<string>
  readonly isDark: boolean
  /** What stands at the end of the time. */
  readonly endName: 'now' | 'end'
}

/** The axis stands above the lanes and does not scroll. */
export const AXIS_HEIGHT = 22
const FONT = '11px system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, DejaVu Sans, sans-serif'
/** In thinner lanes, heights would look like paler colours. */
const LEAST_SHAPED = 5
/** Marks are no smaller, however thin the lanes. */
const LEAST_MARK = 3

type Box = readonly [x: number, y: number, width: number, height: number]

/** Draws what can be seen, all boxes of one colour at once. Returns how many boxes there were. */
export function drawLanes(context: CanvasRenderingContext2D, items: Iterable<LaneItem>, view: LanesView): number {
  const boxes = new Map<Phase | null, Box[]>([[null, []], ...PHASE_ORDER.map(phase => [phase, []] as [Phase, Box[]])])
  const failed: Box[] = []
  const late: Box[] = []
  const wereLate: Box[] = []
  let selected: Box | undefined
  for (const item of items) {
    const row = rowOf(item, view)
    if (row === undefined) continue
    for (const { phase, from, to } of item.stretches) {
      const [x, width] = across(from, to ?? view.to, view)
      const height = row.height * (phase === null || view.rowHeight < LEAST_SHAPED ? 1 : PHASE_LOOKS[phase].tall)
      if (width > 0) boxes.get(phase)?.push([x, row.y + (row.height - height) / 2, width, height])
    }
    const [x, width] = across(item.startedAt, item.endedAt ?? view.to, view)
    const whole: Box = [x, row.y, width, row.height]
    if (item.run !== null && item.run.outcome !== 'graded') failed.push([x + width - 2, row.y, 4, row.height])
    if (view.late.has(item.runId)) (item.endedAt === null ? late : wereLate).push(whole)
    if (item.runId === view.selected) selected = whole
  }
  context.clearRect(0, 0, view.width, view.height)
  drawTicks(context, view)
  context.save()
  context.beginPath()
  context.rect(0, AXIS_HEIGHT, view.width, view.height - AXIS_HEIGHT)
  context.clip()
  let drawn = 0
  for (const [phase, own] of boxes) {
    drawn += own.length
    fill(context, own, phase === null ? UNSEEN_COLOUR : PHASE_LOOKS[phase].colour)
  }
  fill(context, failed.map(atLeast), ALARM_COLOUR)
  drawLate(context, late, view)
  drawTriangles(context, [...late, ...wereLate])
  if (selected !== undefined) frame(context, [selected], tokenColour('ink', view.isDark))
  context.restore()
  return drawn
}

/** Whose lane and time a place of the canvas is. */
export function itemAt(items: Iterable<LaneItem>, x: number, y: number, view: LanesView): LaneItem | undefined {
  const lane = Math.floor((y - AXIS_HEIGHT + view.scrollTop) / view.rowHeight)
  const at = view.from + (x / view.width) * (view.to - view.from)
  let found: LaneItem | undefined
  for (const item of items)
    if (item.lane === lane && item.startedAt <= at && (item.endedAt ?? view.to) >= at) found = item
  return found
}

/** Where an item begins to be seen. */
export function placeOf(item: LaneItem, view: LanesView): { readonly x: number; readonly y: number } {
  const [x, width] = across(item.startedAt, item.endedAt ?? view.to, view)
  return { x: x + width / 2, y: AXIS_HEIGHT + item.lane * view.rowHeight - view.scrollTop }
}

function rowOf({ lane, startedAt, endedAt }: LaneItem, { from, to, rowHeight, scrollTop, height }: LanesView) {
  if (startedAt > to || (endedAt ?? to) < from) return undefined
  const y = AXIS_HEIGHT + lane * rowHeight - scrollTop
  if (y + rowHeight < AXIS_HEIGHT || y > height) return undefined
  // Rows that are high enough are kept apart by a line.
  return { y, height: rowHeight >= LEAST_MARK ? rowHeight - 1 : rowHeight }
}

function across(from: number, to: number, view: LanesView): readonly [x: number, width: number] {
  const scale = view.width / (view.to - view.from)
  const left = Math.max(0, (from - view.from) * scale)
  const right = Math.min(view.width, (to - view.from) * scale)
  return [left, right <= left ? 0 : Math.max(0.75, right - left)]
}

function fill(context: CanvasRenderingContext2D, boxes: readonly Box[], colour: string): void {
  context.fillStyle = colour
  for (const [x, y, width, height] of boxes) context.fillRect(x, y, width, height)
}

/** A frame where there is room for one, else a line. */
function drawLate(context: CanvasRenderingContext2D, boxes: readonly Box[], { rowHeight }: LanesView): void {
  if (rowHeight < 6) fill(context, boxes.map(atLeast), ALARM_COLOUR)
  else frame(context, boxes, ALARM_COLOUR)
}

/** At their ends: also of those that were late. */
function drawTriangles(context: CanvasRenderingContext2D, boxes: readonly Box[]): void {
  context.fillStyle = ALARM_COLOUR
  for (const [x, y, width, height] of boxes) {
    const [end, middle] = [x + width, y + height / 2]
    context.beginPath()
    context.moveTo(end - 9, middle - 5)
    context.lineTo(end, middle)
    context.lineTo(end - 9, middle + 5)
    context.fill()
  }
}

function frame(context: CanvasRenderingContext2D, boxes: readonly Box[], colour: string): void {
  context.strokeStyle = colour
  context.lineWidth = 2
  for (const box of boxes) {
    const [x, y, width, height] = atLeast(box)
    context.strokeRect(x + 1, y, Math.max(2, width - 2), height)
  }
}

function atLeast([x, y, width, height]: Box): Box {
  const high = Math.max(LEAST_MARK, height)
  return [x, y - (high - height) / 2, width, high]
}

function drawTicks(context: CanvasRenderingContext2D, view: LanesView): void {
  context.font = FONT
  context.textBaseline = 'middle'
  for (const { x, beforeMs } of toTicks(view, view.width)) {
    context.fillStyle = tokenColour('line', view.isDark)
    context.fillRect(Math.min(view.width - 1, Math.round(x)), AXIS_HEIGHT - 6, 1, view.height)
    context.fillStyle = tokenColour('quiet', view.isDark)
    context.textAlign = beforeMs === 0 ? 'right' : 'center'
    if (beforeMs === 0 || x > 24)
      context.fillText(beforeMs === 0 ? view.endName : tellTick(beforeMs), beforeMs === 0 ? view.width - 4 : x, 9)
  }
}

function tellTick(beforeMs: number): string {
  return beforeMs % 60_000 === 0 ? `−${beforeMs / 60_000} min` : `−${beforeMs / 1000} s`
}
