/** What HUD's client is shown of our side: one template for each thing that may come of a task. */
import { once } from 'node:events'
import {
  combine,
  Environment,
  exactMatch,
  numericMatch,
  type StructuredAnswer,
  type TaskLife,
  weigh,
  z,
} from 'troupe/environment'

export const env = new Environment('desk', { version: '2.1.0', workspace: true })

env.template(
  'add',
  { description: 'Add two whole numbers.', args: z.object({ a: z.int(), b: z.int() }) },
  async function* ({ a, b }) {
    const answer = yield `What is ${a} + ${b}?`
    yield numericMatch(answer, a + b)
  },
)

env.template(
  'find',
  { description: 'Say what the note says.', args: z.object({ word: z.string() }) },
  async function* ({ word }, { workspace }) {
    await workspace.write('note.txt', `${word}\n`)
    const answer = yield 'What does note.txt say?'
    yield exactMatch(answer, word)
  },
)

env.template(
  'sum',
  {
    description: 'Answer with the parts and their sum.',
    args: z.object({ parts: z.array(z.int()) }),
    returns: z.object({ parts: z.array(z.int()), sum: z.int() }),
  },
  async function* ({ parts }): TaskLife<StructuredAnswer<{ parts: number[]; sum: number }>> {
    const { content, raw } = yield `Add up ${parts.join(', ')}; answer as JSON.`
    if (typeof content === 'string') yield { score: 0, content: `not as asked: ${raw}` }
    else yield { score: content.sum === parts.reduce((sum, part) => sum + part, 0) ? 1 : 0.5, content: raw }
  },
)

env.template(
  'talk',
  { args: z.object({ messages: z.array(z.looseObject({})).optional() }) },
  async function* ({
    messages = [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: { type: 'text', text: 'Hello.' } },
      { role: 'assistant', content: 'Hello. What is it?' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What' },
          { type: 'text', text: 'now?' },
        ],
      },
    ],
  }) {
    const answer = yield { prompt: messages, tone: 'dry' }
    yield exactMatch(answer, 'nothing')
  },
)

env.template('weighed', { args: z.object({}) }, async function* () {
  const answer = yield 'Answer with anything.'
  const score = await combine(
    weigh('given', 0.75, String(answer).length > 0 ? 1 : 0),
    weigh('long', 0.25, String(answer).length > 10 ? 1 : 0),
  )
  yield { ...score, content: 'weighed', info: { length: String(answer).length } }
})

env.template('fail', { args: z.object({ when: z.enum(['start', 'grade']) }) }, async function* ({ when }) {
  if (when === 'start') throw new Error('there is no paper')
  yield 'Go on.'
  throw new Error('the ink is dry')
})

env.template('unscored', {}, async function* () {
  yield 'Go on.'
})

env.template('long', { args: z.object({ bytes: z.int() }) }, async function* ({ bytes }) {
  const answer = yield 'x'.repeat(bytes)
  yield { score: String(answer).length === bytes ? 1 : 0, content: 'y'.repeat(bytes) }
})

env.template('wait', { args: z.object({ when: z.enum(['start', 'grade']) }) }, async function* ({ when }, { signal }) {
  if (when === 'start') await once(signal, 'abort')
  yield 'Go on.'
  await once(signal, 'abort')
})

env.template(
  'check',
  { description: 'Verifies what an actor left.', args: z.object({}) },
  async function* (_args, { workspace }) {
    const actor = yield 'Nobody reads this.'
    const { score } = z.object({ score: z.number() }).parse(actor)
    const note = await workspace.read('note.txt')
    yield { score: score === 1 && note.trim() === 'ibex' ? 0.875 : 0, content: note.trim() }
  },
)
