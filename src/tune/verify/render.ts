import { renderTable } from '../../report/table.ts'
import { percent } from '../../report/units.ts'
import { toSeconds } from '../advice.ts'
import { toName } from '../candidates.ts'
import type { Compared, Verification } from './verify.ts'

/** Predicted against measured, a plan a line. */
export function renderVerification({ plans, hostMs, speed, steps }: Verification): string {
  const count = (value: number) => Math.round(value).toLocaleString('en')
  const cells = ({ predicted, measured, ratio }: Compared, text: (value: number) => string) => [
    text(predicted),
    text(measured),
    `× ${ratio.toFixed(2)}`,
  ]
  return [
    `Against the emulator at speed ${speed}, ${steps} steps, predicted and measured:`,
    renderTable(
      ['plan', 'step', '', '', 'idle s', '', '', 'hits', ''],
      plans.map(({ candidate, stepMs, idleSeconds, hitRate }) => [
        toName(candidate),
        ...cells(stepMs, toSeconds),
        ...cells(idleSeconds, count),
        percent(hitRate.predicted),
        percent(hitRate.measured),
      ]),
    ),
    `Means of all steps, the first too. This machine works ${hostMs.toFixed(1)} ms on a sandbox, which at that speed is ${(hostMs * speed).toFixed(0)} ms of the emulator's time, one after the other: part of the prediction.`,
  ].join('\n')
}
