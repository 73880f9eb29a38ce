import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What one step of the published run took, in milliseconds. */
export interface PublishedStep {
  readonly rolloutMs: number
  readonly trainMs: number
}

const file = fileURLToPath(new URL('../../../bench/overlap/published.csv', import.meta.url))

/** The ten steps of the published run of HUD and Daytona, as their table has them. */
export function readPublishedSteps(): readonly PublishedStep[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n')
  const columns = head.split(',')
  return lines.map(line => {
    const values = line.split(',')
    const seconds = (name: string) => Number(values[columns.indexOf(name)])
    return { rolloutMs: seconds('rollout_s') * 1_000, trainMs: seconds('train_s') * 1_000 }
  })
}
