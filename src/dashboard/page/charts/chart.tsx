import type { EChartsOption, EChartsType } from 'echarts'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Fold } from '../parts/panel.tsx'
import { type Column, DataTable, type Row } from '../parts/table.tsx'
import { type Ink, inkOf } from './ink.ts'

interface ChartProps {
  readonly title: string
  /** False where it stands alone under a heading that says the same. */
  readonly isTitled?: boolean
  /** What there is to be seen, in words. */
  readonly says: string
  readonly height: number
  /** Changes when the chart has to be drawn anew. */
  readonly version: string
  readonly option: (ink: Ink) => EChartsOption
  readonly isDark: boolean
  readonly table: { readonly caption: string; readonly columns: readonly Column[]; readonly rows: () => readonly Row[] }
}

/** A chart with its title, what it says in words, and the table behind it. The library is loaded with the first one. */
export function Chart({ title, isTitled = true, says, height, version, option, isDark, table }: ChartProps) {
  const element = useRef<HTMLDivElement>(null)
  const drawn = useMemo(() => option(inkOf(isDark)), [version, isDark])
  const chart = useRef<EChartsType | null>(null)
  const wanted = useRef(drawn)
  wanted.current = drawn

  useEffect(() => {
    let isHere = true
    let observer: ResizeObserver | undefined
    import('echarts').then(({ init }) => {
      if (!isHere || element.current === null) return
      const made = init(element.current, null, { renderer: 'canvas' })
      chart.current = made
      made.setOption(wanted.current, { notMerge: true })
      observer = new ResizeObserver(() => made.resize())
      observer.observe(element.current)
    })
    return () => {
      isHere = false
      observer?.disconnect()
      chart.current?.dispose()
      chart.current = null
    }
  }, [])
  useEffect(() => chart.current?.setOption(drawn, { notMerge: true }), [drawn])

  return (
    <figure class="chart">
      <figcaption>
        <h3 class={isTitled ? '' : 'unseen'}>{title}</h3>
        <p>{says}</p>
      </figcaption>
      <div class="plot" ref={element} style={{ height: `${height}px` }} role="img" aria-label={`${title}. ${says}`} />
      <Fold summary={`${title}: the table`}>
        {() => <DataTable caption={table.caption} columns={table.columns} rows={table.rows()} first={200} />}
      </Fold>
    </figure>
  )
}
