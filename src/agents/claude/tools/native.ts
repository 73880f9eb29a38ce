import type { Tool } from '../../chat/tools/index.ts'
import type { Toolbox } from '../../toolbox.ts'
import type { ClaudeSettings } from '../config.ts'
import type { ClaudeTool } from '../sdk.ts'
import { makeBash } from './bash.ts'
import { editor } from './editor.ts'

const BASH = 'bash'
const EDITOR = 'str_replace_based_edit_tool'

/** Fresh for each rollout, by the names under which the model calls them. */
export function nativeTools(wanted: ClaudeSettings['tools']): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>()
  if (wanted.includes('bash')) tools.set(BASH, makeBash())
  if (wanted.includes('editor')) tools.set(EDITOR, editor)
  return tools
}

/** How a request offers what is in the toolbox: the native ones by their type, whose schema the model knows. */
export function toDefinitions({ own, foreign }: Toolbox): ClaudeTool[] {
  const definitions: ClaudeTool[] = []
  if (own.has(BASH)) definitions.push({ type: 'bash_20250124', name: BASH })
  if (own.has(EDITOR)) definitions.push({ type: 'text_editor_20250728', name: EDITOR })
  for (const { chat } of foreign.values()) {
    const { name, description, parameters } = chat.function
    definitions.push({ name, description, input_schema: { ...parameters, required: [...parameters.required] } })
  }
  return definitions
}
