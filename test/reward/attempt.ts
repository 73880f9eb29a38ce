import { makeScriptedAgent } from '../../src/agents/scripted.ts'
import { TroupeError } from '../../src/errors.ts'
import type { Served } from '../isolation/served.ts'

/** One rollout as far as its reward is concerned. */
export interface Attempt {
  /** Undefined: it was not graded. */
  readonly score: number | undefined
  /** What came with the grade, or why there is none. */
  readonly details: string
  readonly tookMs: number
}

export interface Task {
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A session, a scripted agent in it, and the environment's own verdict. An agent that breaks off is graded on what it left, as in a rollout. */
export async function attempt(served: Served, task: Task, commands: readonly string[]): Promise<Attempt> {
  const { control, shell, close } = await served.open()
  try {
    const { prompt } = await control.startTask(task.id, task.args)
    const { signal } = new AbortController()
    const agent = makeScriptedAgent({ commands, answer: 'Every test passes.' })
    const context = { prompt, shell: async () => shell, seed: 1, signal, record: () => {} }
    const answer = await agent.run(context).then(
      end => end.answer,
      (error: unknown) => {
        if (!(error instanceof TroupeError)) throw error
        return error.message
      },
    )
    const startedAt = performance.now()
    const graded = await control.grade(answer).then(
      frame => ({ score: frame.score, details: JSON.stringify(frame) }),
      (error: unknown) => ({ score: undefined, details: String(error) }),
    )
    return { ...graded, tookMs: performance.now() - startedAt }
  } finally {
    await close()
  }
}
