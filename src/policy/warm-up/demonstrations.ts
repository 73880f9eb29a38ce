/** What a base policy is made from: an expert's turns, with mistakes on purpose where there is to be something left to learn. */
import type { ChatMessage, ChatTool } from '../../models/chat.ts'
import type { Reply } from '../reply-format.ts'

/** One turn. */
export interface Demonstration {
  /** The messages after the last reply: what the policy sees. */
  readonly context: readonly ChatMessage[]
  readonly reply: Reply
}

/** Where the demonstrations come from that a base policy is warmed up with: what such a module exports as default. */
export interface DemonstrationSource {
  readonly name: string
  readonly settings: WarmUpSettings
  /** The tools that replies call. */
  readonly tools: readonly ChatTool[]
  /** Texts that the tokenizer is learned from. */
  corpus(): readonly string[]
  /** All turns of one rollout. Everything random comes from `random`, numbers in [0, 1). */
  draw(random: () => number): readonly Demonstration[]
}

/** The shape of the model, and how it is warmed up. */
export interface WarmUpSettings {
  readonly width: number
  readonly heads: number
  readonly layers: number
  /** Tokens of prompt and output at most. */
  readonly context: number
  /** The tokenizer's merges at most. */
  readonly merges: number
  /** Optimiser steps, and rollouts drawn for each. */
  readonly steps: number
  readonly batch: number
  /** The highest learning rate; it rises to it in the first steps and falls in the second half. */
  readonly learningRate: number
  /** The output head's factor at the end: above 1 rare tokens become rarer still. */
  readonly sharpen: number
  readonly seed: number
}
