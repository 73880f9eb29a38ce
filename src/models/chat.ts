/** The chat-completions surface, as both of its ends use it here: what an agent sends, and what the embedded policy answers. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly tool_calls?: readonly ChatToolCall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON text, as the model put it out. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A tool as it is offered to a model. `parameters` is a JSON schema of type object; the order of its properties means something. */
export interface ChatTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: {
      readonly type: 'object'
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
      readonly required: readonly string[]
    }
  }
}
