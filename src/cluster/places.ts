/** A file is found on another machine by its place below the working directory: workers run where the coordinator does, in a checkout or an image of the same. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { AgentRef } from '../agents/agent.ts'

/** What lies below `directory`, from there on; anything else as it is. */
export function toSharedPath(path: string, directory: string): string {
  const below = relative(directory, resolve(directory, path))
  const isBelow = below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
  return isBelow ? below.replaceAll(sep, '/') : resolve(directory, path)
}

const HERE = 'cwd:'

/** The agent as it travels: a module below `directory` is named from there on. */
export function toSharedAgent(agent: AgentRef, directory: string): AgentRef {
  if (agent.kind !== 'module' || !agent.url.startsWith('file:')) return agent
  const path = toSharedPath(fileURLToPath(agent.url), directory)
  return isAbsolute(path) ? agent : { ...agent, url: `${HERE}${path}` }
}

/** The same agent where it arrived. */
export function fromSharedAgent(agent: AgentRef, directory: string): AgentRef {
  if (agent.kind !== 'module' || !agent.url.startsWith(HERE)) return agent
  return { ...agent, url: pathToFileURL(resolve(directory, agent.url.slice(HERE.length))).href }
}
