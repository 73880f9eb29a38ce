import * as assert from 'uvu/assert'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../src/emulator/index.ts'

/** An emulator for the length of `body`, which must not make it report anything. */
export async function withEmulator(
  options: EmulatorOptions,
  body: (emulator: Emulator) => Promise<void>,
): Promise<void> {
  const problems: unknown[] = []
  const emulator = await startEmulator({ speed: 200, onError: error => problems.push(error), ...options })
  try {
    await body(emulator)
    assert.equal(problems, [])
  } finally {
    await emulator.close()
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export async function call(emulator: Emulator, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(new URL(path, emulator.url), {
    method,
    headers: {
      authorization: `Bearer ${emulator.apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const parsed = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text }
  return { status: answer.status, headers: answer.headers, body: parsed }
}

export const create = (emulator: Emulator, body: unknown = {}) => call(emulator, 'POST', '/api/sandbox', body)

/** Asks again and again, for ten seconds at most. */
export async function until(true_: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await true_())) if (performance.now() > deadline) throw new Error('it did not come about')
}
