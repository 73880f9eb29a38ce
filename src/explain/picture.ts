import { CustomChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { toPlainSvg } from '../report/plain-svg.ts'
import { duration } from '../report/units.ts'
import type { ExplainedStep, JobExplanation } from './explain-job.ts'
import { type Lanes, pathOnLanes, toLanes } from './lanes.ts'
import { boxes, FAMILIES, frames, INK, labels, QUIET } from './picture-series.ts'
import { lengthOf, type Part, type Segment, type Span } from './timeline.ts'

use([CustomChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer])

const WIDTH = 1040
/** Without quotes, which the renderer would not escape. */
const FONT = 'system-ui, Helvetica, Arial, sans-serif'
const TOP = 104
const TRAINER_HEIGHT = 30
const LANES_HEIGHT = 620
/** A group's task is named beside it from this height on, and the straggler's time alone is shaded from this share of the step on. */
const NAMED_PIXELS = 11
const SHADED = 0.02

/** Lanes of one step's rollouts by phase, the trainer's calls below, the critical path outlined. The same step gives the same bytes. */
export function drawStep(job: Pick<JobExplanation, 'name'>, step: ExplainedStep): string {
  const lanes = toLanes(step.timeline.runs)
  const laneHeight = Math.max(2, Math.min(16, Math.floor(LANES_HEIGHT / lanes.bottom)))
  const height = Math.ceil(lanes.bottom * laneHeight)
  const trainerTop = TOP + height + 16
  const hasTrainer = step.timeline.calls.length > 0
  const bottom = hasTrainer ? trainerTop + TRAINER_HEIGHT : TOP + height
  const title = `${job.name}, ${step.label}: where its ${duration(step.wallMs)} went`
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: bottom + 92 })
  const rollouts = { gridIndex: 0 }
  const trainer = { gridIndex: 1 }
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT },
      title: {
        left: 24,
        top: 16,
        text: title,
        subtext: subtitleOf(step, lanes),
        textStyle: { color: INK, fontSize: 18, fontWeight: 600, fontFamily: FONT },
        subtextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
      },
      grid: [
        { left: 150, right: 40, top: TOP, height },
        { left: 150, right: 40, top: trainerTop, height: TRAINER_HEIGHT },
      ],
      legend: {
        bottom: 10,
        left: 'center',
        itemGap: 18,
        icon: 'rect',
        textStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
        data: FAMILIES.filter(({ parts }) => hasAny(step, parts)).map(({ name }) => name),
      },
      xAxis: [
        { ...timeAxis(step.wallMs, !hasTrainer), ...rollouts },
        { ...timeAxis(step.wallMs, true), ...trainer, show: hasTrainer },
      ],
      yAxis: [
        { ...LANE_AXIS, max: lanes.bottom, ...rollouts },
        { ...LANE_AXIS, max: 1, ...trainer },
      ],
      series: [
        ...shade(step, lanes),
        ...FAMILIES.map(({ name, colour, parts }) =>
          boxes(
            { name, colour, grid: 0 },
            lanes.lanes.flatMap(({ run, top }) =>
              run.segments.filter(({ part }) => parts.includes(part)).map(segment => ({ ...segment, top })),
            ),
          ),
        ),
        frames(pathOnLanes(step, lanes)),
        labels(lanes.groups.filter(group => (group.bottom - group.top) * laneHeight >= NAMED_PIXELS)),
        ...(hasTrainer ? drawTrainer(step) : []),
      ],
    })
    return toPlainSvg(chart.renderToSVGString(), title)
  } finally {
    chart.dispose()
  }
}

function subtitleOf({ rollouts, groups, straggler }: ExplainedStep, { left }: Lanes): string {
  const drawn = left === 0 ? `${rollouts} rollouts` : `the ${rollouts - left} of ${rollouts} rollouts that ended last`
  const late =
    straggler === undefined
      ? ''
      : `; last by ${duration(straggler.aloneMs)}: ${straggler.run.slug}, member ${straggler.run.member}`
  return `${drawn}, ${groups} groups by when they ended${late}. Outlined: the critical path`
}

function shade({ straggler, wallMs }: ExplainedStep, { bottom }: Lanes) {
  if (straggler === undefined || straggler.aloneMs < wallMs * SHADED) return []
  const { endedAtMs, aloneMs } = straggler
  const area = { from: endedAtMs - aloneMs, to: endedAtMs, top: 0, tall: bottom }
  return [boxes({ name: 'the last one alone', colour: '#fdf3cf', grid: 0 }, [area])]
}

function drawTrainer({ timeline }: ExplainedStep) {
  const inLane = (spans: readonly Span[]) => spans.map(span => ({ ...span, top: 0 }))
  const [training, optimiser] = ['training', 'optimiser step'].map(wanted =>
    FAMILIES.find(({ name }) => name === wanted),
  )
  return [
    ...(training === undefined ? [] : [boxes({ ...training, grid: 1 }, inLane(timeline.calls))]),
    ...(optimiser === undefined || timeline.optimiser === undefined
      ? []
      : [boxes({ ...optimiser, grid: 1 }, inLane([timeline.optimiser]))]),
    labels([{ slug: 'trainer', top: 0, bottom: 1 }], 1),
  ]
}

function hasAny({ timeline, path }: ExplainedStep, parts: readonly Part[]): boolean {
  const isOne = (segment: Segment) => parts.includes(segment.part) && lengthOf(segment) > 0
  if (timeline.runs.some(({ segments }) => segments.some(isOne))) return true
  if (parts.includes('training')) return timeline.calls.length > 0
  return parts.includes('optimiser') && timeline.calls.length > 0 && path.some(isOne)
}

const LANE_AXIS = { type: 'value', min: 0, inverse: true, show: false }

const timeAxis = (wallMs: number, isLabelled: boolean) => ({
  type: 'value',
  min: 0,
  max: Math.max(1, wallMs) / 1000,
  name: isLabelled ? 'seconds' : '',
  nameLocation: 'middle',
  nameGap: 26,
  nameTextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
  position: 'bottom',
  splitLine: { lineStyle: { color: '#e8ecf0' } },
  axisLine: { onZero: false, lineStyle: { color: '#9aa5b1' } },
  axisTick: { show: isLabelled },
  axisLabel: { show: isLabelled, showMaxLabel: false, color: QUIET, fontSize: 12, fontFamily: FONT },
})
