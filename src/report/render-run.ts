import pc from 'picocolors'
import type { Run } from '../rollout/run.ts'
import type { Turn } from '../rollout/trajectory.ts'
import { moment } from './render-lists.ts'
import { renderPrompt } from './render-prompt.ts'
import { decimal, duration } from './units.ts'

type Paint = ReturnType<typeof pc.createColors>

/** One run from prompt to grade, whole and in order, as a person reads it. */
export function renderRun(run: Run, colours = false): string {
  const paint = pc.createColors(colours)
  const { prompt, turns, answer, grade, actorGrade } = run.trajectory
  const sections = [
    verdict(run, paint),
    section('prompt', renderPrompt(prompt), paint),
    ...turns.map((turn, index) => renderTurn(turn, index, paint)),
    section('answer', toText(answer), paint),
    ...(actorGrade === undefined ? [] : [section("the task's own grade", toText(actorGrade), paint)]),
    section(actorGrade === undefined ? 'grade' : "grade of record, the verifier's", toText(grade), paint),
    section('timings', timings(run), paint),
  ]
  return `${sections.join('\n\n')}\n`
}

function verdict(run: Run, paint: Paint): string {
  const reward = run.reward === null ? paint.red('not graded') : `reward ${decimal(run.reward, 3)}`
  const lines = [
    paint.bold(`${run.runId}  ${run.task.slug}`),
    `${reward}, ${run.outcome}, stopped: ${run.stopReason}${run.failedPhase === undefined ? '' : ` while ${run.failedPhase}`}`,
    `job ${run.jobId}, group ${run.groupId}, step ${run.step}, member ${run.member}, attempt ${run.attempt}`,
    `env ${run.task.env}, template ${run.task.id}, args ${JSON.stringify(run.task.args)}`,
    ...(run.task.verifier === undefined ? [] : [`verifier ${run.task.verifier.id} of ${run.task.verifier.env}`]),
    `agent ${run.agent}, seed ${run.seed}, sandbox ${run.lease ?? 'none'}, started ${moment(run.startedAt)} UTC`,
  ]
  if (run.error !== undefined) lines.push(paint.red(`error ${run.error.tag}: ${run.error.message}`))
  return lines.join('\n')
}

function renderTurn(turn: Turn, index: number, paint: Paint): string {
  const tokens =
    turn.tokens === undefined ? '' : `, ${turn.tokens.prompt.length} tokens in, ${turn.tokens.output.length} out`
  const title = `turn ${index + 1}: ${turn.role}, at ${duration(turn.atMs)}, took ${duration(turn.tookMs)}${tokens}`
  // Some agents tell a command and its output as the turn's text, too: it need not be read twice.
  const untold = (turn.toolCalls ?? []).filter(
    ({ result }) => turn.role !== 'tool' || turn.text === '' || !turn.text.includes(result),
  )
  const calls = untold.map(
    call => `${call.name}(${JSON.stringify(call.arguments)})${call.isError ? ' failed' : ''}\n${call.result}`,
  )
  return section(title, [turn.text, ...calls].filter(text => text !== '').join('\n'), paint)
}

function timings(run: Run): string {
  const phases = Object.entries(run.timings).map(([phase, ms]) => `${phase} ${duration(ms)}`)
  return [...phases, `in all ${duration(run.endedAt - run.startedAt)}`].join(', ')
}

function section(title: string, text: string, paint: Paint): string {
  const lines = text.trimEnd().split('\n')
  return `${paint.cyan(`── ${title}`)}\n${lines.map(line => (line === '' ? '' : `  ${line}`)).join('\n')}`
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}
