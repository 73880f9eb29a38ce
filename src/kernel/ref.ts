declare const replied: unique symbol

/** Marks a message that wants an answer of type `Reply`. It carries nothing at run time. */
export interface Question<Reply> {
  readonly [replied]?: Reply
}

/** The type of the answer to a question. */
export type ReplyOf<Asked> = Asked extends Question<infer Reply> ? Reply : never

/**
 * Where an actor can be reached: the same type for an actor of this thread and of another. A ref is data: it may be part of
 * a message, and arrives as a ref that works from where it arrived.
 */
export interface Ref<in Message> {
  /** `node/path#incarnation`, unique in the system. */
  readonly address: string
  /**
   * Leaves `message` in the actor's mailbox. Never throws and never waits; false when the message became a dead letter at
   * once (stopped, unknown or full near actor). True promises nothing about a far actor.
   */
  tell(message: Message): boolean
}
