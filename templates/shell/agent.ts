import { defineAgent } from 'troupe'
import { BUGS } from './bugs.ts'

/** Needs no model, since it knows every bug: it shows that each task can be solved, and what an agent looks like. */
export default defineAgent(() => ({
  name: 'knows-every-bug',
  async run({ shell, record }) {
    const startedAt = performance.now()
    const workspace = await shell()
    const script = await workspace.readFile('total.sh')
    const bug = Object.values(BUGS).find(({ right, wrong }) => script.includes(wrong) && !script.includes(right))
    if (bug !== undefined)
      await workspace.writeFile(
        'total.sh',
        script.replace(bug.wrong, () => bug.right),
      )
    const answer = bug === undefined ? 'I found nothing.' : `It said ${bug.wrong} where it should say ${bug.right}.`
    record({ role: 'assistant', text: answer, atMs: 0, tookMs: performance.now() - startedAt })
    return { answer, stop: 'done' }
  },
}))
