import type { ErrorData } from '../src/errors.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { closeStep } from '../src/training/loop/close-step.ts'
import { stepNotOpen, trainerQueueFull } from '../src/training/loop/errors.ts'
import type { StepLedger } from '../src/training/loop/ledger.ts'
import { openStep } from '../src/training/loop/open-step.ts'
import { sendChunk } from '../src/training/loop/send-chunk.ts'
import type { TrainerPorts } from '../src/training/loop/trainer-ports.ts'
import type { TrainerMessage, TrainerQuestion, TrainerReply, TrainerWork } from './messages.ts'

/** Questions that wait behind the one that is worked on. A loop asks them one after the other. */
const QUEUE_LIMIT = 64

interface Asked {
  readonly question: TrainerQuestion
  readonly from: Ref<unknown> | undefined
}

interface TrainerState {
  /** What the service is asked for now: one thing at a time, because the order of its calls is what they mean. */
  working: Asked | undefined
  queue: Asked[]
  /** The step that is open, or was last. */
  ledger: StepLedger | undefined
  /** What went wrong. The ledger may lack what was sent since, so nothing more is sent: the next process reads it from the journal. */
  failure: ErrorData | undefined
}

/**
 * Chunks in, policy versions out. It knows of each group whether it was sent, and sends none twice: what it is about to do is
 * durable before it does it, and a call that fails ends with what is known of its groups, never with another attempt.
 */
export function trainer(ports: TrainerPorts): Actor<TrainerState, TrainerMessage> {
  return {
    name: 'trainer',
    initial: () => ({ working: undefined, queue: [], ledger: undefined, failure: undefined }),
    receive(state, message, context) {
      if (message.type === 'trainer-work-over') finish(state, message)
      else accept(state, { question: message, from: context.replyTo })
      startNext(state, context)
      return state
    },
  }

  function accept(state: TrainerState, asked: Asked): void {
    if (state.queue.length < QUEUE_LIMIT) state.queue.push(asked)
    else answer(asked, failed(trainerQueueFull(QUEUE_LIMIT).data))
  }

  function startNext(state: TrainerState, context: Context<TrainerMessage>): void {
    if (state.working !== undefined) return
    const { failure } = state
    if (failure !== undefined) for (const asked of state.queue.splice(0)) answer(asked, failed(failure))
    const next = state.queue.shift()
    if (next === undefined) return
    state.working = next
    context.pipe(work(state.ledger, next.question), settled => ({ type: 'trainer-work-over', settled }))
  }

  function finish(state: TrainerState, { settled }: TrainerWork): void {
    const asked = state.working
    state.working = undefined
    if (settled.ok) state.ledger = settled.value.ledger
    else state.failure = settled.error
    if (asked !== undefined) answer(asked, settled.ok ? settled.value.reply : failed(settled.error))
  }

  function answer({ from }: Asked, reply: TrainerReply): void {
    from?.tell(reply)
  }

  async function work(
    ledger: StepLedger | undefined,
    question: TrainerQuestion,
  ): Promise<{ readonly ledger: StepLedger; readonly reply: TrainerReply }> {
    if (question.type === 'open-step') return openStep(ports, question)
    if (ledger?.step !== question.step) throw stepNotOpen(question.step, ledger?.step)
    return question.type === 'train-chunk' ? sendChunk(ports, ledger, question) : closeStep(ports, ledger, question)
  }
}

function failed(error: ErrorData): TrainerReply {
  return { type: 'trainer-failed', error }
}
