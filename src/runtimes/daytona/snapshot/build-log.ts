import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { SnapshotDto } from '@daytona/api-client'
import { bounded } from '../../../bounded.ts'
import { toErrorData } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { buildLogLost } from './errors.ts'

/** The log of one snapshot's build, whoever started it. */
export interface BuildLog {
  /** Called with each look at the snapshot; the log is read from when there is one. */
  follow(snapshot: Pick<SnapshotDto, 'id' | 'name' | 'state'>): void
  /** Waits until the log has ended, 5 s at most. Resolves with its last lines, at most 60. */
  end(): Promise<readonly string[]>
  /** Lets go of it at once. */
  close(): void
}

const KEPT_LINES = 60
const MAX_LINE_LENGTH = 2_000
const END_MS = 5_000

/**
 * Read from the address that the provider names, because the SDK hands its log on in pieces that do not end with lines, and only while it is told by
 * its own look, a second apart, that there is a build.
 */
export function makeBuildLog(account: Account, onLine: (line: string) => void): BuildLog {
  const stop = new AbortController()
  const last: string[] = []
  let reading: Promise<void> | undefined

  async function read(id: string): Promise<void> {
    const { data, config } = await account.snapshots.getSnapshotBuildLogsUrl(id, undefined, { signal: stop.signal })
    const { body, ok, status } = await fetch(`${data.url}?follow=true`, {
      headers: { authorization: String(config.headers.get('Authorization')) },
      signal: stop.signal,
    })
    if (!ok || body === null) throw new Error(`status ${status}`)
    for await (const line of createInterface({ input: Readable.fromWeb(body), crlfDelay: Number.POSITIVE_INFINITY })) {
      const text = line.trimEnd().slice(0, MAX_LINE_LENGTH)
      if (text === '') continue
      last.push(text)
      if (last.length > KEPT_LINES) last.shift()
      onLine(text)
    }
  }

  return {
    follow({ id, name, state }) {
      if (reading !== undefined || state === 'pending') return
      reading = read(id).catch(error => {
        // The build goes on without its log.
        if (!stop.signal.aborted) publish('sandbox', buildLogLost(name, toErrorData(error)))
      })
    },
    async end() {
      await bounded(account.clock, END_MS, () => reading)
      return last
    },
    close: () => stop.abort(),
  }
}
