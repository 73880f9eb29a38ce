import type { TrendName, TrendPoint } from '../model/trends.ts'

const WIDTH = 200
const HEIGHT = 34

/** A small line of how a figure went; the table of trends has its values. From zero, so that a small change does not look like a large one. */
export function Spark({ points, name }: { readonly points: readonly TrendPoint[]; readonly name: TrendName }) {
  const runs = toRuns(points, name)
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {runs.map(run => (
        <g key={run[0]?.join()}>
          <polygon points={`${run[0]?.[0]},${HEIGHT} ${toText(run)} ${run.at(-1)?.[0]},${HEIGHT}`} />
          <polyline points={toText(run)} />
        </g>
      ))}
    </svg>
  )
}

type Place = readonly [x: number, y: number]

/** Stretches without a gap, in the picture's own coordinates. */
export function toRuns(points: readonly TrendPoint[], name: TrendName): Place[][] {
  const [first, last] = [points.at(0)?.at ?? 0, points.at(-1)?.at ?? 0]
  const most = Math.max(0, ...points.map(point => point[name] ?? 0))
  const runs: Place[][] = []
  let isOpen = false
  for (const point of points) {
    const value = point[name]
    if (value !== null) {
      const x = last === first ? 0 : ((point.at - first) / (last - first)) * WIDTH
      const y = most === 0 ? HEIGHT : HEIGHT - (Math.max(0, value) / most) * (HEIGHT - 3)
      if (isOpen) runs.at(-1)?.push([round(x), round(y)])
      else runs.push([[round(x), round(y)]])
    }
    isOpen = value !== null
  }
  return runs.filter(run => run.length > 1)
}

const round = (value: number) => Math.round(value * 10) / 10
const toText = (run: readonly Place[]) => run.map(place => place.join()).join(' ')
