/** Runs in the encoding thread: one answer a question, in order. */
import { parentPort } from 'node:worker_threads'
import { toErrorData } from '../../errors.ts'
import { unpackTrajectory } from '../../rollout/pack.ts'
import { checkTokens } from '../check-tokens.ts'
import { JsonWriter } from './json-writer.ts'
import type { FromEncoder, ToEncoder } from './messages.ts'

const writer = new JsonWriter()

parentPort?.on('message', (question: ToEncoder) => {
  const answer = encode(question)
  parentPort?.postMessage(answer, answer.type === 'encoded' ? [answer.json.buffer] : [])
})

function encode(question: ToEncoder): FromEncoder {
  const { id } = question
  try {
    const datums = question.type === 'encode-run' ? writeRun(question) : writeRows(question.rows)
    return { type: 'encoded', id, json: writer.take(), datums }
  } catch (error) {
    writer.take()
    return { type: 'failed', id, error: toErrorData(error) }
  }
}

function writeRun({ runId, reward, packed }: Extract<ToEncoder, { readonly type: 'encode-run' }>): number {
  const turns = checkTokens(runId, unpackTrajectory(packed))
  for (const [index, { prompt, output, logprobs }] of turns.entries()) {
    writer.text(index === 0 ? ',{"samples":[{' : ',{')
    if (prompt.length > 0) {
      writer.text('"prompt_token_ids":')
      writer.ids(prompt)
      writer.text(',')
    }
    writer.text('"output_token_ids":')
    writer.ids(output)
    writer.text(',"output_logprobs":')
    writer.floats(logprobs)
    writer.text('}')
  }
  writer.text(`],"reward":${JSON.stringify(reward)}}`)
  return turns.length
}

function writeRows(rows: readonly Float32Array[]): number {
  for (const row of rows) {
    writer.text(',')
    writer.floats(row)
  }
  return 0
}
