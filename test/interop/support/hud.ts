import { z } from 'zod'
import { type Answering, startAnswering } from '../../../bench/peers/hud/answering.ts'
import { PREPARE_HUD_MS, prepareHud } from '../../../bench/peers/hud/venv.ts'
import { needTime } from '../../support/need-time.ts'
import { HUD_SETTINGS, sourceOf } from './places.ts'

const CALL_MS = 60_000
const IMPORT_MS = 120_000
const END_MS = 10_000
/** What a file has once the SDK is there, whose processes take seconds to start, and many times as long where others work too. */
const FILE_MS = 480_000

const welcome = z.object({
  sessionId: z.string(),
  env: z.tuple([z.string(), z.string()]),
  bindings: z.array(z.object({ name: z.string(), protocol: z.string(), params: z.record(z.string(), z.unknown()) })),
})
export type Welcome = z.infer<typeof welcome>

const refusal = z.object({ kind: z.string(), code: z.number(), message: z.string() })
const told = z.union([z.object({ value: z.unknown() }), z.object({ error: refusal })])

/** HUD's SDK in a process of its own, asked by the names of `test/interop/peer`. */
export interface Hud {
  ask<Value>(schema: z.ZodType<Value>, name: string, given?: object): Promise<Value>
  /** A connection of HUD's client; closed with this at the latest. */
  connect(url: string): Promise<HudClient>
  end(): Promise<void>
}

/** One connection of theirs. What the environment refuses is given back, not thrown. */
export interface HudClient {
  readonly number: number
  readonly welcome: Welcome
  call(method: string, ...given: readonly unknown[]): Promise<unknown>
  /** Rejects when it was not refused. */
  refused(method: string, ...given: readonly unknown[]): Promise<z.infer<typeof refusal>>
  /** The session that it speaks for now, or the refusal. */
  resume(sessionId: string): Promise<Welcome | z.infer<typeof refusal>>
  bye(): Promise<unknown>
  close(): Promise<unknown>
}

/** The Python with the SDK; makes its virtual environment if need be, for which the file is given time. Rejects with `hud-missing`. */
export async function needHud(): Promise<string> {
  needTime(PREPARE_HUD_MS + FILE_MS)
  const { program } = await prepareHud(AbortSignal.timeout(PREPARE_HUD_MS), line => console.log(line))
  needTime(FILE_MS)
  return program
}

/** The same, and the SDK in a process that has loaded it. */
export async function openHud(): Promise<Hud> {
  const program = await needHud()
  const process = await startAnswering([program, sourceOf('peer/main.py')], { variables: HUD_SETTINGS })
  // Importing the SDK takes seconds, and longer beside others who do: no test is to wait for that.
  await process.call('ready', {}, IMPORT_MS).catch(async error => {
    await process.end(0)
    throw error
  })
  return {
    ask: async (schema, name, given = {}) => schema.parse(await process.call(name, given, CALL_MS)),
    connect: url => connect(process, url),
    end: () => process.end(END_MS),
  }
}

async function connect(process: Answering, url: string): Promise<HudClient> {
  const ask = (name: string, given: object) => process.call(name, given, CALL_MS)
  const opened = z.object({ client: z.number(), welcome }).parse(await ask('client_open', { url }))
  const client = opened.client
  let closing: Promise<unknown> | undefined
  const make = async (method: string, given: readonly unknown[]) =>
    told.parse(await ask('client_call', { client, method, arguments: given }))
  return {
    number: client,
    welcome: opened.welcome,
    async call(method, ...given) {
      const answer = await make(method, given)
      if ('error' in answer)
        throw new Error(`${method}: ${answer.error.kind} ${answer.error.code} ${answer.error.message}`)
      return answer.value
    },
    async refused(method, ...given) {
      const answer = await make(method, given)
      if ('error' in answer) return answer.error
      throw new Error(`${method} was not refused: ${JSON.stringify(answer.value)}`)
    },
    async resume(sessionId) {
      const answer = told.parse(await ask('client_hello', { client, session_id: sessionId }))
      return 'error' in answer ? answer.error : welcome.parse(answer.value)
    },
    async bye() {
      const answer = told.parse(await ask('client_bye', { client }))
      return 'error' in answer ? answer.error : answer.value
    },
    // Twice is once.
    close: () => (closing ??= ask('client_close', { client })),
  }
}
