import { hasTag } from '../errors.ts'
import type { ControlClient, ControlSession } from '../wire/session.ts'

/** A JSON Schema, as `tasks.list` carries it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What each client has learnt of the environments that it talks to. Until one rollout's question is answered each asks its own: none waits for another's sandbox. */
const learnt = new WeakMap<ControlClient, Map<string, ReadonlyMap<string, JsonSchema>>>()
/** Environments of one client that are remembered. */
const MOST = 64

/** The schema that the template wants its answer to fit; undefined where it says none. Rejects as the session's calls do. */
export async function findReturns(
  client: ControlClient,
  session: ControlSession,
  template: string,
  signal: AbortSignal,
): Promise<JsonSchema | undefined> {
  const { name, version } = session.env
  const key = JSON.stringify([name, version])
  const environments = learnt.get(client) ?? new Map<string, ReadonlyMap<string, JsonSchema>>()
  learnt.set(client, environments)
  const known = environments.get(key)
  if (known !== undefined) return known.get(template)
  const asked = await ask(session, signal)
  if (environments.size >= MOST) environments.clear()
  environments.set(key, asked)
  return asked.get(template)
}

/** Nothing, of a peer that does not tell. */
async function ask(session: ControlSession, signal: AbortSignal): Promise<ReadonlyMap<string, JsonSchema>> {
  try {
    const tasks = await session.listTasks(signal)
    return new Map(tasks.flatMap(({ id, returns }) => (isSchema(returns) ? [[id, returns]] : [])))
  } catch (error) {
    if (hasTag(error, 'remote-error')) return new Map()
    throw error
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
