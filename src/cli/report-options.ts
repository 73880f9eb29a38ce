import type { Job } from '../job/job.ts'
import type { Reporter } from '../job/reporter.ts'
import { createPlatformReporter } from '../platform/reporter.ts'
import { isReportingAsked } from '../platform/settings.ts'
import type { Console } from './console.ts'

export const NO_REPORT = '--no-report'
export const NO_REPORT_HELP = "report nothing to HUD's platform, which a key in HUD_API_KEY turns on"

/** With a key, commands report as HUD's do: unless they are told not to, or `HUD_TELEMETRY_ENABLED` says no. */
export function chooseReporter(asked: boolean | undefined): { readonly reporter?: Reporter } {
  return asked === true && isReportingAsked() ? { reporter: createPlatformReporter() } : {}
}

/** One line of what became of the report; none where nothing is reported. */
export function tellReported({ reported }: Job, console: Console): void {
  if (reported === undefined) return
  const lost = [
    ...(reported.failed > 0 ? [`${reported.failed} failed`] : []),
    ...(reported.dropped > 0 ? [`${reported.dropped} dropped`] : []),
  ]
  const runs = `${reported.reported} ${reported.reported === 1 ? 'run' : 'runs'}`
  console.need(`reported: ${[runs, ...lost].join(', ')}, ${reported.url}`)
}
