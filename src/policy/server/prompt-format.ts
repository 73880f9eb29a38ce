import type { ChatFormat } from '../chat-format.ts'

/** What the server needs of a chat format: conversations to tokens, and tokens to replies. */
export type PromptFormat = Pick<ChatFormat, 'stopToken' | 'toPrompt' | 'toReply' | 'toText'>
