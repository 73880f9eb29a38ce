import { toErrorData } from '../errors.ts'
import type { Task } from '../taskset/task.ts'
import type { AgentRef, AgentSpec } from './agent.ts'
import { resolveAgent } from './create-agent.ts'

type Config = Readonly<Record<string, unknown>>

/** Limits the agent phase, whatever the agent: see `withTaskDeadlines`. */
const LIMIT = 'timeout_seconds'
/** Rows may come from anywhere, and a key would go wherever they point. */
const NOT_FOR_ROWS = ['endpoint', 'baseUrl', 'apiKeyVariable', 'command']

/** The agent with the task's `agent_config` laid over its own config. HUD writes `max_steps`: agents with a model are told `maxSteps`. */
export function withTaskConfig<Agent extends AgentRef | AgentSpec>(agent: Agent, task: Task): Agent {
  const own = ownConfig(task)
  if (own === undefined || agent.kind === 'closure' || agent.kind === 'held') return agent
  const laid = agent.kind === 'module' ? own : Object.fromEntries(Object.entries(own).map(toOurs))
  return { ...agent, config: { ...agent.config, ...laid } }
}

/** What is wrong with the tasks' `agent_config`s, each with its task's slug, before anything is started. */
export async function taskConfigProblems(agent: AgentSpec, tasks: readonly Task[]): Promise<readonly string[]> {
  const seen = new Map<string, Promise<string | undefined>>()
  const problems: string[] = []
  for (const task of tasks) {
    const own = ownConfig(task)
    if (own === undefined) continue
    const key = JSON.stringify(own)
    const checking = seen.get(key) ?? check(agent, task, own)
    seen.set(key, checking)
    const problem = await checking
    if (problem !== undefined) problems.push(`${task.slug}: agent_config: ${problem}`)
  }
  return problems
}

async function check(agent: AgentSpec, task: Task, own: Config): Promise<string | undefined> {
  if (agent.kind === 'closure')
    return `${Object.keys(own).join(', ')}: the agent "${agent.agent.name}" is made already, and a row can only say ${LIMIT}`
  const refused = agent.kind === 'module' ? [] : Object.keys(Object.fromEntries(Object.entries(own).map(toOurs)))
  const unwanted = refused.filter(name => NOT_FOR_ROWS.includes(name))
  if (unwanted.length > 0) return `${unwanted.join(', ')}: is the agent's own to say, and no row's`
  try {
    await resolveAgent(withTaskConfig(agent, task))
    return undefined
  } catch (error) {
    return toErrorData(error).message
  }
}

/** What the row says to the agent itself; undefined where that is nothing. */
function ownConfig({ agent_config: config = {} }: Task): Config | undefined {
  const { [LIMIT]: _limit, ...own } = config
  return Object.keys(own).length === 0 ? undefined : own
}

function toOurs([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  return [name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]
}
