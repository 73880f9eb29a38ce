import { lengthOf, type Span } from './timeline.ts'

/** What the spans cover together, as spans that neither touch nor overlap, in order. */
export function unite(spans: readonly Span[]): readonly Span[] {
  const united: Span[] = []
  for (const span of spans.filter(each => lengthOf(each) > 0).toSorted((a, b) => a.from - b.from)) {
    const last = united.at(-1)
    if (last === undefined || span.from > last.to) united.push(span)
    else if (span.to > last.to) united[united.length - 1] = { from: last.from, to: span.to }
  }
  return united
}

/** What lies in both; each list as `unite` gives it. */
export function intersect(one: readonly Span[], other: readonly Span[]): readonly Span[] {
  const both: Span[] = []
  let place = 0
  for (const span of one) {
    while ((other[place]?.to ?? Number.POSITIVE_INFINITY) <= span.from) place += 1
    for (let at = place; ; at += 1) {
      const beside = other[at]
      if (beside === undefined || beside.from >= span.to) break
      both.push({ from: Math.max(span.from, beside.from), to: Math.min(span.to, beside.to) })
    }
  }
  return both
}

export const sumOf = (spans: readonly Span[]): number => spans.reduce((sum, span) => sum + lengthOf(span), 0)

/** How much of the span lies in the window. */
export function within(span: Span, window: Span): number {
  return Math.max(0, Math.min(span.to, window.to) - Math.max(span.from, window.from))
}

/** The most spans that there were at one instant; one that ends as another begins makes room for it. */
export function peakOf(spans: readonly Span[]): number {
  const changes = spans
    .flatMap(({ from, to }) =>
      to > from
        ? [
            { at: from, by: 1 },
            { at: to, by: -1 },
          ]
        : [],
    )
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  let open = 0
  let peak = 0
  for (const { by } of changes) {
    open += by
    peak = Math.max(peak, open)
  }
  return peak
}
