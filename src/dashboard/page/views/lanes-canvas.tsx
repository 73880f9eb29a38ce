import { Component, createRef } from 'preact'
import { AXIS_HEIGHT, drawLanes, itemAt, type LanesView, placeOf } from '../charts/lanes-draw.ts'
import { type TimeWindow, toWindow, type WindowName } from '../model/lane-window.ts'
import type { LaneItem } from '../model/lanes.ts'
import { clockOf, type PageState } from '../model/state.ts'
import { timed } from '../timing.ts'
import { nextItem } from './lanes-keys.ts'
import { tellItem } from './lanes-words.ts'

interface CanvasProps {
  readonly state: PageState
  readonly window: WindowName
  /** All lanes in the picture at once, however thin. */
  readonly isFitted: boolean
  readonly late: ReadonlySet<string>
  readonly isDark: boolean
  readonly label: string
  readonly onOpen: (runId: string) => void
}

interface Pointed {
  readonly selected: string | null
  readonly tip: { readonly x: number; readonly y: number } | null
}

/** Between two drawings: thirty a second move smoothly enough, and what takes long may take a quarter of the time. */
const LEAST_GAP_MS = 30
const SHARE = 4
const ROW_BOUNDS = [2, 14] as const

/** Lanes on a canvas, drawn by frames of their own: between messages, what goes on grows. */
export class LanesCanvas extends Component<CanvasProps, Pointed> {
  override readonly state: Pointed = { selected: null, tip: null }
  readonly #box = createRef<HTMLDivElement>()
  readonly #canvas = createRef<HTMLCanvasElement>()
  /** As much as the lanes reach lower than the canvas, so that the box scrolls. */
  readonly #spacer = createRef<HTMLDivElement>()
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)')
  readonly #observer = new ResizeObserver(() => {
    this.#isChanged = true
  })
  #frame = 0
  #isChanged = true
  #lastMs = 0
  #lastAt = 0
  /** What is seen, found once a message: between messages it only moves on. */
  #seen = { key: '', at: 0, from: 0, to: 1 }
  #lanes = 1

  override componentDidMount(): void {
    if (this.#box.current !== null) this.#observer.observe(this.#box.current)
    this.#frame = requestAnimationFrame(this.#onFrame)
  }

  override componentDidUpdate(): void {
    this.#isChanged = true
  }

  override componentWillUnmount(): void {
    cancelAnimationFrame(this.#frame)
    this.#observer.disconnect()
  }

  override render({ label, state }: CanvasProps, { selected, tip }: Pointed) {
    const item = selected === null ? undefined : state.lanes.get(selected)
    const told = item === undefined ? '' : tellItem(item, clockOf(state, performance.now()), this.props.late)
    return (
      <div class="lanes-wrap">
        <div class="lanes" ref={this.#box} onScroll={this.#onScroll}>
          {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes the arrow keys, which screen readers pass on to applications alone. */}
          <canvas
            ref={this.#canvas}
            tabIndex={0}
            role="application"
            aria-label={label}
            onPointerMove={this.#onPoint}
            onPointerLeave={() => this.setState({ tip: null })}
            onClick={this.#onClick}
            onKeyDown={this.#onKey}
          />
          <div ref={this.#spacer} />
        </div>
        {tip !== null && told !== '' && (
          <div class="tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }} aria-hidden="true">
            {told}
          </div>
        )}
        <p class="told" role="status">
          {told === ''
            ? 'Point at a rollout, or go to the lanes and use the arrow keys; Enter or a click opens it.'
            : told}
        </p>
      </div>
    )
  }

  #view(): LanesView {
    const { state, isFitted, late, isDark } = this.props
    const box = this.#box.current
    const time = this.#time(clockOf(state, performance.now()))
    const height = box?.clientHeight ?? 1
    const fitting = (height - AXIS_HEIGHT) / this.#lanes
    const [least, most] = ROW_BOUNDS
    const rowHeight = Math.min(most, isFitted ? fitting : Math.max(least, fitting))
    const scrollTop = isFitted ? 0 : (box?.scrollTop ?? 0)
    return {
      ...time,
      width: box?.clientWidth ?? 1,
      height,
      scrollTop,
      rowHeight,
      selected: this.state.selected,
      late,
      isDark,
      endName: state.live.length > 0 ? 'now' : 'end',
    }
  }

  /** Also counts the lanes, which change with messages alone. */
  #time(at: number): TimeWindow {
    const { state, window: name } = this.props
    const key = `${state.job?.jobId} ${state.heardAt} ${name}`
    if (this.#seen.key !== key) {
      this.#seen = { key, at, ...toWindow(state.lanes.items(), at, name) }
      this.#lanes = Math.max(1, countLanes(state.lanes.items(), this.#seen))
    }
    const { from, to } = this.#seen
    const passed = to === this.#seen.at ? at - to : 0
    return { from: from + passed, to: to + passed }
  }

  readonly #onFrame = () => {
    this.#frame = requestAnimationFrame(this.#onFrame)
    const isMoving = this.props.state.live.length > 0 && !this.#calm.matches
    const now = performance.now()
    if (!this.#isChanged && !isMoving) return
    if (now - this.#lastAt < Math.max(LEAST_GAP_MS, this.#lastMs * SHARE)) return
    this.#isChanged = false
    this.#lastAt = now
    this.#lastMs = timed('lanes', () => this.#draw())
  }

  #draw(): void {
    const canvas = this.#canvas.current
    const context = canvas?.getContext('2d')
    if (canvas === null || context == null) return
    const view = this.#view()
    const ratio = devicePixelRatio
    const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)]
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width
      canvas.height = height
      canvas.style.height = `${view.height}px`
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    canvas.dataset.boxes = String(drawLanes(context, this.props.state.lanes.items(), view))
    canvas.dataset.lanes = String(this.#lanes)
    const beyond = Math.max(0, this.#lanes * view.rowHeight + AXIS_HEIGHT - view.height)
    if (this.#spacer.current !== null)
      this.#spacer.current.style.height = `${this.props.isFitted ? 0 : Math.floor(beyond)}px`
  }

  readonly #onScroll = () => {
    this.#isChanged = true
  }

  readonly #onPoint = (event: PointerEvent) => {
    const found = this.#at(event)
    if (found === undefined) this.setState({ tip: null })
    else this.#select(found, { x: event.offsetX, y: event.offsetY })
  }

  readonly #onClick = (event: MouseEvent) => {
    const found = this.#at(event)
    if (found !== undefined) this.props.onOpen(found.runId)
  }

  readonly #onKey = (event: KeyboardEvent) => {
    const { selected } = this.state
    if (event.key === 'Enter' && selected !== null) return this.props.onOpen(selected)
    const view = this.#view()
    const { lanes } = this.props.state
    const next = nextItem([...lanes.items()], selected, event.key, view)
    if (next === undefined) return
    event.preventDefault()
    this.#scrollTo(next, view)
    this.#select(next, placeOf(next, this.#view()))
  }

  #at({ offsetX, offsetY }: MouseEvent): LaneItem | undefined {
    return itemAt(this.props.state.lanes.items(), offsetX, offsetY, this.#view())
  }

  #scrollTo({ lane }: LaneItem, { rowHeight, height, scrollTop }: LanesView): void {
    const top = lane * rowHeight
    const room = height - AXIS_HEIGHT - rowHeight
    if (this.#box.current !== null && (top < scrollTop || top > scrollTop + room))
      this.#box.current.scrollTop = Math.max(0, top - room / 2)
  }

  #select({ runId }: LaneItem, { x, y }: { readonly x: number; readonly y: number }): void {
    const width = this.#box.current?.clientWidth ?? 0
    this.setState({ selected: runId, tip: { x: Math.max(0, Math.min(x + 14, width - 300)), y: y + 18 } })
  }
}

function countLanes(items: Iterable<LaneItem>, { from, to }: TimeWindow): number {
  let count = 0
  for (const { lane, startedAt, endedAt } of items)
    if (startedAt <= to && (endedAt ?? to) >= from) count = Math.max(count, lane + 1)
  return count
}
