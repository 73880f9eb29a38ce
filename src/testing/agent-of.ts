import type { Agent, AgentContext } from '../agents/agent.ts'

/** Works on one task: gets its prompt and the rest of the context, and gives the answer that is graded. */
export type Solve = (prompt: unknown, context: AgentContext) => unknown

/** An agent that is one function. It lives in the calling thread, and so needs `threads: 0`. */
export function agentOf(solve: Solve, name = 'test'): Agent {
  return {
    name,
    run: async context => ({ answer: await solve(context.prompt, context), stop: 'done' }),
  }
}
