/** A tokenizer as it is stored: ids are those of the special tokens, then the 256 bytes, then the merges in their order. */
export interface TokenizerData {
  readonly special: readonly string[]
  /** Pairs of earlier ids. */
  readonly merges: readonly (readonly [left: number, right: number])[]
}
