import { useState } from 'preact/hooks'
import type { RunReply, ToolCallReply, TurnReply } from '../../routes.ts'
import { count, duration, toText } from '../words.ts'
import { Tokens } from './tokens.tsx'

interface TurnProps {
  readonly turn: TurnReply
  readonly number: number
  readonly tokenizer: RunReply['tokenizer']
}

/** One exchange: what the model put out, with its tokens, or what a tool was asked and answered. A call that the turn's text tells whole is not told again. */
export function Turn({ turn, number, tokenizer }: TurnProps) {
  const { role, text, toolCalls = [], atMs, tookMs, tokens, version } = turn
  return (
    <li class={`turn ${role}`}>
      <header>
        <h3>
          {number}. {role === 'assistant' ? 'Assistant' : 'Tool'}
        </h3>
        <span>at {duration(atMs)}</span>
        <span>took {duration(tookMs)}</span>
        {tokens !== undefined && (
          <span>
            {count(tokens.prompt.length)} tokens in, {count(tokens.output.length)} out
          </span>
        )}
        {version !== undefined && <span>by {version}</span>}
      </header>
      {text !== '' && !isToldByTokens(turn) && <LongText text={text} />}
      {toolCalls
        .filter(({ result }) => role !== 'tool' || text === '' || !text.includes(result))
        .map((call, index) => (
          <Call key={index} call={call} />
        ))}
      {tokens !== undefined && tokens.output.length > 0 && <Tokens tokens={tokens} tokenizer={tokenizer} />}
    </li>
  )
}

/** The tokens' own texts say it all: it need not be read twice. */
function isToldByTokens({ text, tokens }: TurnReply): boolean {
  return tokens?.outputTexts?.join('').includes(text.trim()) ?? false
}

function Call({ call }: { readonly call: ToolCallReply }) {
  return (
    <div class="call">
      <p class="name">
        <code>{call.name}</code> {call.isError ? <b class="alarm">failed</b> : ''}
      </p>
      <LongText text={toShort(call.arguments)} />
      <LongText text={call.result === '' ? '(no output)' : call.result} />
    </div>
  )
}

/** On one line where it fits. */
function toShort(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= 100 ? line : toText(value)
}

/** More is folded at first: of longer texts this much is seen. */
const FOLD_AT = { characters: 1_600, lines: 30 } as const
const HEAD = { characters: 1_000, lines: 20 } as const

/** A text as it is, its end folded where it is long. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > FOLD_AT.characters || text.split('\n', FOLD_AT.lines + 1).length > FOLD_AT.lines
  return (
    <>
      {isLong && !isWhole ? (
        <pre>{headOf(text)} …</pre>
      ) : (
        <pre class={isLong ? 'whole' : ''} tabIndex={isLong ? 0 : undefined}>
          {text}
        </pre>
      )}
      {isLong && (
        <button type="button" class="more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Fold' : `Show all ${count(text.length)} characters`}
        </button>
      )}
    </>
  )
}

function headOf(text: string): string {
  return text.slice(0, HEAD.characters).split('\n', HEAD.lines).join('\n')
}
