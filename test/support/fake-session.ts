import { PassThrough } from 'node:stream'
import type { LeasePorts } from '../../src/rollout/stay.ts'
import type { ControlClient, ControlSession, GradeFrame, TaskManifest } from '../../src/wire/session.ts'

/** What a fake peer does in each call; what is left out succeeds. */
export interface FakePeer {
  connect?: (signal: AbortSignal | undefined) => Promise<void>
  start?: (signal: AbortSignal | undefined, id: string) => Promise<unknown>
  list?: () => Promise<readonly TaskManifest[]>
  grade?: (answer: unknown, signal: AbortSignal | undefined) => Promise<GradeFrame>
  end?: () => Promise<boolean>
  carry?: (traceparent: string) => void
}

/** A control client whose one peer lives in the test; it counts what was opened and closed. */
export function fakeClient(
  peer: FakePeer,
): ControlClient & { readonly open: () => number; readonly aborted: () => number } {
  let open = 0
  let aborted = 0
  return {
    open: () => open,
    aborted: () => aborted,
    async connect(_address, options): Promise<ControlSession> {
      await peer.connect?.(options.signal)
      open += 1
      return {
        sessionId: 'sess-00000001',
        env: { name: 'fake', version: '1' },
        bindings: [],
        multiplexed: false,
        carry: traceparent => peer.carry?.(traceparent),
        listTasks: async () => (await peer.list?.()) ?? [],
        startTask: async (id, _args, signal) => ({ prompt: (await peer.start?.(signal, id)) ?? 'do it' }),
        grade: async (answer, signal) => (await peer.grade?.(answer, signal)) ?? { score: 1 },
        cancelTask: async () => {},
        park: async () => {},
        async end() {
          const ended = (await peer.end?.()) ?? true
          open -= 1
          return ended
        },
        openTunnel: async () => new PassThrough(),
        abort() {
          aborted += 1
        },
      }
    },
    close: async () => {},
  }
}

/** For rollouts without a verifier that would get a sandbox of its own. */
export const noLease: LeasePorts = {
  lease: () => Promise.reject(new Error('nobody asked for a second sandbox')),
  whyLost: async () => undefined,
  release() {},
}
