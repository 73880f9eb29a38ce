import { type Command, InvalidArgumentError } from 'commander'
import { toTracesUrl } from '../telemetry/traces/traces-url.ts'
import { numberFromZero, positiveNumber, toShare } from './arguments.ts'

/** Where to listen. */
export interface ListenAt {
  readonly host: string
  readonly port: number
}

/** Options of commands that can be watched from outside while they run. */
export interface ObserveArguments {
  readonly metrics?: ListenAt
  readonly events?: string
  readonly traces?: string
  readonly tracesShare?: number
  /** True: on any port that is free. */
  readonly dashboard?: ListenAt | true
  readonly price?: number
  readonly priceCreate?: number
}

const LOOPBACK = '127.0.0.1'
const HIGHEST_PORT = 65_535

/** Adds `--metrics`, `--events`, `--traces`, `--traces-share`, `--dashboard` and the prices that it counts with. */
export function addObserveOptions(command: Command): Command {
  return command
    .option('--metrics <port>', 'serve metrics for Prometheus on PORT of loopback, or on HOST:PORT', toListenAt)
    .option('--events <file>', 'append what happens to this file, a JSON object a line')
    .option(
      '--dashboard [port]',
      'serve a page that shows the job, on PORT of loopback, on HOST:PORT or, without either, on any port that is free',
      toListenAt,
    )
    .option('--price <money>', 'of one sandbox for a second: the dashboard then shows the cost so far', positiveNumber)
    .option('--price-create <money>', 'of one create', numberFromZero)
    .option('--traces <url>', 'send OpenTelemetry spans to this receiver of OTLP over HTTP', toTracesArgument)
    .option('--traces-share <share>', 'of so many rollouts, from 0 to 1; with --traces (default: 1)', toShare)
}

/** The URL of a receiver, whole. */
export function toTracesArgument(text: string): string {
  try {
    return toTracesUrl(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** `9464`, `0.0.0.0:9464`, `[::1]:9464`. */
export function toListenAt(text: string): ListenAt {
  const [, inBrackets, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:\s]+)):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > HIGHEST_PORT)
    throw new InvalidArgumentError(
      'Write PORT or HOST:PORT, for instance 9464 or 0.0.0.0:9464; port 0 is any free one.',
    )
  return { host: inBrackets ?? plain ?? LOOPBACK, port }
}
