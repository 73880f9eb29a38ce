const PUNCTUATION = /[^\p{L}\p{N}_\s]/gu
const ARTICLES = /(?<![\p{L}\p{N}_])(a|an|the)(?![\p{L}\p{N}_])/gu

/** Text without what should not decide whether an answer is right: case, punctuation, English articles, spacing. */
export function normalize(answer: unknown): string {
  return toText(answer).toLowerCase().replace(PUNCTUATION, ' ').replace(ARTICLES, ' ').replace(/\s+/gu, ' ').trim()
}

/** An answer as text: what is not text already, as JSON. */
export function toText(answer: unknown): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? String(answer))
}
