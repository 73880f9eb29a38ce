import type { CloseStep, OpenStep, TrainChunk, TrainerFailed, TrainerQuestion } from '../../actors/messages.ts'
import { trainer } from '../../actors/trainer.ts'
import { fromErrorData } from '../errors.ts'
import { makeSystem } from '../kernel/system.ts'
import { observed } from '../telemetry/observed.ts'
import type { StepClosed, StepToClose } from '../training/loop/close-step.ts'
import type { StepOpened, StepToOpen } from '../training/loop/open-step.ts'
import type { ChunkOver, ChunkToTrain } from '../training/loop/send-chunk.ts'
import type { TrainerPorts } from '../training/loop/trainer-ports.ts'

/** The trainer actor from outside. Every call rejects with the trainer's error once it has failed. */
export interface TrainerHandle {
  openStep(what: StepToOpen): Promise<StepOpened>
  trainChunk(what: ChunkToTrain): Promise<ChunkOver>
  closeStep(what: StepToClose): Promise<StepClosed>
  /** Waits for what was asked before: a call that is under way is not left without a record of its end. */
  close(): Promise<void>
}

/** Answers of the service that one question waits for at most. */
const ANSWERS = 4
const GRACE_MS = 60_000

/** Starts the trainer actor in this thread. */
export function startTrainer(ports: TrainerPorts): TrainerHandle {
  const system = makeSystem({ node: 'trainer', clock: ports.clock, ...observed() })
  const ref = system.spawn(trainer(ports))
  const open = new Set<Promise<unknown>>()
  const deadlineMs = ANSWERS * ports.callDeadlineMs + ports.settleMs + GRACE_MS

  async function answered<Reply extends { readonly type: string }>(
    reply: Promise<Reply | TrainerFailed>,
  ): Promise<Reply> {
    open.add(reply)
    try {
      const answer = await reply
      if (isFailure(answer)) throw fromErrorData(answer.error)
      return answer
    } finally {
      open.delete(reply)
    }
  }
  const ask = <Asked extends TrainerQuestion>(question: Asked) => system.ask(ref, question, deadlineMs)

  return {
    openStep: what => answered<StepOpened>(ask<OpenStep>({ type: 'open-step', ...what })),
    trainChunk: what => answered<ChunkOver>(ask<TrainChunk>({ type: 'train-chunk', ...what })),
    closeStep: what => answered<StepClosed>(ask<CloseStep>({ type: 'close-step', ...what })),
    async close() {
      await Promise.allSettled(open)
      await system.stop()
    },
  }
}

function isFailure<Reply extends { readonly type: string }>(reply: Reply | TrainerFailed): reply is TrainerFailed {
  return reply.type === 'trainer-failed'
}
