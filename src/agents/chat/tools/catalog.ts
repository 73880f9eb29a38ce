import type { ChatTool } from '../../../models/chat.ts'
import { bash } from './bash.ts'
import { edit } from './edit.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { read } from './read.ts'
import type { Tool } from './tool.ts'
import { write } from './write.ts'

/** In the order in which a model is offered them. Names and parameters are those of the coding agents that models know. */
export const TOOL_NAMES = ['bash', 'read', 'write', 'edit', 'glob', 'grep'] as const
export type ToolName = (typeof TOOL_NAMES)[number]

const TOOLS: Readonly<Record<ToolName, Tool>> = { bash, read, write, edit, glob, grep }

/** The tools by these names, all when absent, always in the order of the catalogue. */
export function toolsByName(names: readonly ToolName[] = TOOL_NAMES): ReadonlyMap<string, Tool> {
  return new Map(TOOL_NAMES.filter(name => names.includes(name)).map(name => [name, TOOLS[name]]))
}

/** The same as a request's `tools` has them. */
export function chatTools(names?: readonly ToolName[]): readonly ChatTool[] {
  return [...toolsByName(names).values()].map(tool => tool.chat)
}
