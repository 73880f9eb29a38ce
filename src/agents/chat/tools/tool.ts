import type { z } from 'zod'
import { TroupeError } from '../../../errors.ts'
import type { ChatTool } from '../../../models/chat.ts'
import type { Shell } from '../../../wire/shell.ts'
import { lazySchema, type Zod, zod } from '../../schema.ts'

/** What a tool works with. */
export interface ToolContext {
  readonly shell: Shell
  readonly signal: AbortSignal
}

/** `failed`: the tool ran, and what it was asked did not work. `malformed`: it did not run, because it was not asked properly. */
export interface ToolResult {
  readonly type: 'done' | 'failed' | 'malformed'
  /** What the model reads. */
  readonly text: string
}

/** A tool as a model is offered it, and what it does. */
export interface Tool {
  readonly chat: ChatTool
  /** Rejects only where the shell is gone or the signal aborts; everything else is a result that the model may react to. */
  run(given: unknown, context: ToolContext): Promise<ToolResult>
}

/** Makes a tool from the schema of its parameters. A result given as text is `done`. */
export function defineTool<Name extends string, Parameters extends z.ZodObject>(definition: {
  readonly name: Name
  readonly description: string
  readonly parameters: (z: Zod) => Parameters
  readonly run: (given: z.output<Parameters>, context: ToolContext) => Promise<string | ToolResult>
}): Tool & { readonly name: Name } {
  const { name, description } = definition
  const parameters = lazySchema(definition.parameters)
  let chat: ChatTool | undefined
  return {
    name,
    get chat() {
      chat ??= { type: 'function', function: { name, description, parameters: toJsonSchema(parameters()) } }
      return chat
    },
    async run(given, context) {
      const parsed = parameters().safeParse(given)
      if (!parsed.success) return { type: 'malformed', text: `error: ${complaints(parsed.error)}` }
      try {
        const result = await definition.run(parsed.data, context)
        return typeof result === 'string' ? { type: 'done', text: result } : result
      } catch (error) {
        if (!isForTheModel(error)) throw error
        return { type: 'failed', text: `error: ${error.message}` }
      }
    },
  }
}

/** What goes wrong inside a workspace that is itself well. Anything else says that the workspace, or the way to it, is not. */
const WORKSPACE_ERRORS = new Set([
  'file-not-read',
  'file-not-written',
  'file-too-large',
  'path-refused',
  'command-timeout',
  'command-too-long',
  'workspace-full',
])

function isForTheModel(error: unknown): error is TroupeError {
  return error instanceof TroupeError && WORKSPACE_ERRORS.has(error.tag)
}

function complaints({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; ')
}

/** Properties keep the order in which the schema lists them. */
function toJsonSchema(schema: z.ZodObject): ChatTool['function']['parameters'] {
  const { properties = {}, required = [] } = zod().toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, typeof property === 'object' ? { ...property } : {}]),
    ),
    required,
  }
}
