import { useState } from 'preact/hooks'
import type { RunReply, TokensReply } from '../../routes.ts'
import { Fold } from '../parts/panel.tsx'
import { DataTable } from '../parts/table.tsx'
import { count, percent } from '../words.ts'

interface TokensProps {
  readonly tokens: TokensReply
  readonly tokenizer: RunReply['tokenizer']
}

/** More are more than a page should hold at once. */
const FIRST = 1_000

/** Upper ends of the probabilities of each shade, from the least likely. */
const SHADES = [
  { below: 0.1, shade: 'l4', says: 'below 10 %' },
  { below: 0.5, shade: 'l3', says: 'to 50 %' },
  { below: 0.9, shade: 'l2', says: 'to 90 %' },
  { below: 0.99, shade: 'l1', says: 'to 99 %' },
] as const

/** Output tokens, shaded by how unlikely the model held them; the pointer or the arrow keys tell one's figures. */
export function Tokens({ tokens, tokenizer }: TokensProps) {
  const { output, outputTexts, logprobs } = tokens
  const [chosen, choose] = useState<number | null>(null)
  const [most, setMost] = useState(FIRST)
  const textOf = (index: number) => outputTexts?.[index] ?? String(output[index])
  const tell = (index: number) => tellToken(index, output.length, textOf(index), logprobs[index])
  return (
    <div class="call">
      <section
        class="tokens"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys go from token to token.
        tabIndex={0}
        aria-label={`${count(output.length)} output tokens; arrow keys go from one to the next`}
        onPointerOver={event => choose(indexOf(event.target))}
        onPointerLeave={() => choose(null)}
        onKeyDown={event => {
          const next = nextIndex(event.key, chosen, Math.min(most, output.length))
          if (next === undefined) return
          event.preventDefault()
          choose(next)
        }}
      >
        {output.slice(0, most).map((id, index) => (
          <span
            key={index}
            data-token={index}
            class={`${shadeOf(logprobs[index])}${index === chosen ? ' on' : ''}${outputTexts === undefined ? ' id' : ''}`}
          >
            {outputTexts?.[index] ?? id}
          </span>
        ))}
      </section>
      <p class="told" role="status">
        {chosen === null
          ? `${count(output.length)} tokens${tokenizer === null ? ', as ids: their vocabulary is not known here' : ''}. Shaded: less likely.`
          : tell(chosen)}
      </p>
      <ul class="legend">
        {SHADES.toReversed().map(({ shade, says }) => (
          <li key={shade}>
            <span class={`token ${shade}`}>{says}</span>
          </li>
        ))}
      </ul>
      {output.length > most && (
        <button type="button" class="more" onClick={() => setMost(output.length)}>
          Show all {count(output.length)} tokens
        </button>
      )}
      <Fold summary="Tokens: the table">
        {() => (
          <DataTable
            caption="Output tokens in their order"
            columns={[
              { name: 'place', kind: 'number' },
              { name: 'id', kind: 'number' },
              { name: 'text' },
              { name: 'logprob', kind: 'number' },
              { name: 'probability', kind: 'number' },
            ]}
            rows={output.map((id, index) => ({
              key: String(index),
              cells: [
                index + 1,
                id,
                <code key="text">{outputTexts === undefined ? '–' : JSON.stringify(outputTexts[index])}</code>,
                logprobOf(logprobs[index]),
                probabilityOf(logprobs[index]),
              ],
            }))}
          />
        )}
      </Fold>
    </div>
  )
}

export function shadeOf(logprob: number | null | undefined): string {
  if (logprob === null || logprob === undefined) return ''
  const probability = Math.exp(logprob)
  return SHADES.find(({ below }) => probability < below)?.shade ?? ''
}

function tellToken(index: number, length: number, text: string, logprob: number | null | undefined): string {
  return `Token ${index + 1} of ${count(length)}, ${JSON.stringify(text)}: logprob ${logprobOf(logprob)}, probability ${probabilityOf(logprob)}.`
}

const logprobOf = (logprob: number | null | undefined) => (logprob == null ? '–' : logprob.toFixed(4))
const probabilityOf = (logprob: number | null | undefined) => percent(logprob == null ? null : Math.exp(logprob), 2)

function indexOf(target: EventTarget | null): number | null {
  const place = target instanceof HTMLElement ? target.dataset.token : undefined
  return place === undefined ? null : Number(place)
}

function nextIndex(key: string, now: number | null, length: number): number | undefined {
  if (key === 'ArrowRight') return Math.min(length - 1, (now ?? -1) + 1)
  if (key === 'ArrowLeft') return Math.max(0, (now ?? 1) - 1)
  if (key === 'Home') return 0
  return key === 'End' ? length - 1 : undefined
}
