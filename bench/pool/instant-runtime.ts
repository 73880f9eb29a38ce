import type { Runtime } from '../../src/runtimes/runtime.ts'

const noWork = () => Promise.resolve()

/** A runtime whose sandboxes are names: there as soon as they are asked for, and gone as soon. */
export const instantRuntime: Runtime = {
  name: 'instant',
  preflight: noWork,
  provision: ({ id, labels, prewarm }) =>
    Promise.resolve({
      id,
      labels,
      address: { kind: 'unix', path: `/bench/${id}` },
      sessionId: prewarm ? `session-${id}` : undefined,
      dispose: noWork,
    }),
  close: noWork,
}
