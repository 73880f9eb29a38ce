import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricDefinition } from './definition.ts'

type Labels = Readonly<Record<string, string>>

/** What only grows. */
export interface CounterMetric {
  /** Nothing that is not above 0 is added: a counter only grows. 0 makes the series be there. */
  add(by: number, labels?: Labels): void
  /** A total that is counted elsewhere. */
  setTotal(total: number, labels?: Labels): void
}

/** What stands somewhere now. */
export interface GaugeMetric {
  set(value: number, labels?: Labels): void
}

/** What is spread over buckets. */
export interface HistogramMetric {
  /** What is no finite number is left out. */
  observe(value: number, labels?: Labels): void
}

/** Metrics of one job, apart from all others: prom-client's global registry has none of them. */
export interface MetricsRegistry {
  readonly contentType: string
  /** Prometheus' text format, with HELP and TYPE. */
  text(): Promise<string>
  counter(definition: MetricDefinition): CounterMetric
  gauge(definition: MetricDefinition): GaugeMetric
  histogram(definition: MetricDefinition): HistogramMetric
}

/** `labels` are on every sample. The one file that knows prom-client. No instrument throws for a value. */
export function makeRegistry(labels: Labels): MetricsRegistry {
  const registry = new Registry()
  registry.setDefaultLabels({ ...labels })
  const toConfiguration = ({ name, help, labels: names = [] }: MetricDefinition) => ({
    name,
    help,
    labelNames: [...names],
    registers: [registry],
  })
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter(definition) {
      const counter = new Counter(toConfiguration(definition))
      const totals = new Map<string, number>()
      const add = (by: number, of: Labels = {}) => {
        if (by >= 0 && Number.isFinite(by)) counter.inc({ ...of }, by)
      }
      return {
        add,
        setTotal(total, of = {}) {
          const key = JSON.stringify(of)
          const added = total - (totals.get(key) ?? 0)
          if (!(added >= 0)) return
          totals.set(key, total)
          add(added, of)
        },
      }
    },
    gauge(definition) {
      const gauge = new Gauge(toConfiguration(definition))
      if (definition.absentAtFirst === true) gauge.remove()
      return { set: (value, of = {}) => gauge.set({ ...of }, value) }
    },
    histogram(definition) {
      const buckets = [...(definition.buckets ?? [])]
      const histogram = new Histogram({ ...toConfiguration(definition), buckets })
      return {
        observe(value, of = {}) {
          if (Number.isFinite(value)) histogram.observe({ ...of }, value)
        },
      }
    },
  }
}
