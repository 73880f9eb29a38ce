import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { EmulatorPlace } from '../../../src/ladder/process/calls.ts'
import { startAnswering } from './answering.ts'

const peer = fileURLToPath(new URL('../../../../bench/peers/hud/peer.py', import.meta.url))
/** What the SDK is told to reach the gateway by: it takes a host, and the port of an alias. */
const GATEWAY = 'troupe-emulator'

const figures = z.object({
  wallMs: z.number(),
  /** Of the process, and of the children that it has waited for. */
  ownCpuMs: z.number(),
  childCpuMs: z.number(),
  loopP99Ms: z.number(),
})
export type HudFigures = z.infer<typeof figures>

const usable = figures.extend({ usableMs: z.array(z.number()), failures: z.array(z.string()) })
export type HudUsable = z.infer<typeof usable>

/** HUD's SDK in a process of its own. Calls are made one after the other. */
export interface HudProcess {
  readonly pid: number
  rollouts(
    asked: { runtime: 'local' | 'subprocess'; rollouts: number; width: number },
    deadlineMs: number,
  ): Promise<HudFigures>
  /** So many sandboxes at once, acquired, said `hello` to and given back. */
  usable(asked: { width: number; snapshot: string }, deadlineMs: number): Promise<HudUsable>
  /** Lets it give back what it holds; after `graceMs` it and all its children are killed. Twice is once. */
  end(graceMs: number): Promise<void>
}

export interface HudSettings {
  readonly place?: EmulatorPlace
  /**
   * Without root certificates, which nothing on this machine needs: the SDK reads them twice for each sandbox, and how long that
   * takes says more about OpenSSL than about it. Default no: as it comes.
   */
  readonly lean?: boolean
  /** The program, for tests. */
  readonly script?: string
}

/** Starts it with a home of its own and none of our variables, so that it finds no account to report to. */
export async function startHud(
  python: string,
  { place, lean = false, script = peer }: HudSettings = {},
): Promise<HudProcess> {
  const { pid, call, end } = await startAnswering([python, script], {
    variables: {
      ...(lean ? { SSL_CERT_FILE: '/dev/null' } : {}),
      ...(place === undefined ? {} : { DAYTONA_API_URL: place.url, DAYTONA_API_KEY: place.apiKey }),
    },
    ...(place === undefined ? {} : { prepare: home => writeSshAlias(home, place.sshPort) }),
  })
  return {
    pid,
    rollouts: async (asked, deadlineMs) => figures.parse(await call('rollouts', asked, deadlineMs)),
    usable: async (asked, deadlineMs) => usable.parse(await call('usable', { ...asked, gateway: GATEWAY }, deadlineMs)),
    end,
  }
}

function writeSshAlias(home: string, port: number): void {
  mkdirSync(join(home, '.ssh'), { mode: 0o700 })
  writeFileSync(join(home, '.ssh', 'config'), `Host ${GATEWAY}\n  HostName 127.0.0.1\n  Port ${port}\n`, {
    mode: 0o600,
  })
}
