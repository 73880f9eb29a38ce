import { type ErrorData, TroupeError } from '../../errors.ts'
import type { GroupId } from '../../ids.ts'

export function badTrainOptions(problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-train-option',
    message: `cannot train: ${problems.join('; ')}`,
    details: { problems },
  })
}

export function trainingTaken(): TroupeError {
  return new TroupeError({
    tag: 'training-taken',
    message:
      'a job trains once in a process, and its events have one reader; start the job again with resume: true to go on',
  })
}

export function trainerCallLate(what: string, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'trainer-call-late',
    message: `the trainer did not answer ${what} within ${deadlineMs} ms; look whether the service still works, or raise callDeadlineMs`,
    details: { deadlineMs },
  })
}

export function deliveryUnknown(groups: readonly GroupId[]): TroupeError {
  return new TroupeError({
    tag: 'delivery-unknown',
    message: `nobody can tell whether a training call of ${groups.length} groups arrived, so they are not sent again: the process ended before its answer came`,
    details: { groups },
  })
}

export function optimStepFailed(step: number, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'optim-step-failed',
      message: `the optimiser step of training step ${step} failed, and no checkpoint came of it: ${why}; what was accumulated is kept, and the same command goes on from there`,
      details: { step },
    },
    cause,
  )
}

export function lossNotFinite(step: number, groups: readonly GroupId[]): TroupeError {
  return new TroupeError({
    tag: 'loss-not-finite',
    message: `training step ${step} has a loss that is no number, from the groups ${groups.join(', ')}; no optimiser step is made of it: look at their rewards and logprobs, set the head back to the last checkpoint, and begin a new job`,
    details: { step, groups },
  })
}

export function tooFewGraded(
  step: number,
  found: {
    readonly runs: number
    readonly graded: number
    readonly least: number
    /** Of the commonest failure, and the first of its errors. */
    readonly count: number
    readonly error: ErrorData | undefined
  },
): TroupeError {
  const { runs, graded, least, count, error } = found
  const why = error === undefined ? '' : `; ${count} of the others: ${error.message}`
  return new TroupeError({
    tag: 'too-few-graded',
    message: `only ${graded} of ${runs} rollouts of training step ${step} were graded, and at least the share ${least} is wanted${why}. No optimiser step is made of what is left: it says more of the failures than of the model. Mend their cause and begin a new job, or let the same one go on with a smaller minGradedShare (--min-graded)`,
    details: { step, runs, graded, least },
    ...(error === undefined ? {} : { cause: error }),
  })
}

export function stepNotOver(step: number, groups: readonly GroupId[]): TroupeError {
  return new TroupeError({
    tag: 'step-not-over',
    message: `training step ${step} was to be closed while ${groups.length} of its groups have no end (${groups.slice(0, 3).join(', ')}); this is a defect of the loop`,
    details: { step, groups },
  })
}

export function stepNotOpen(step: number, open: number | undefined): TroupeError {
  return new TroupeError({
    tag: 'step-not-open',
    message: `a message for training step ${step} came while ${open === undefined ? 'none' : `step ${open}`} is open; this is a defect of the loop`,
    details: { step },
  })
}

export function runsNotHere(groupId: GroupId): TroupeError {
  return new TroupeError({
    tag: 'runs-not-here',
    message: `the runs of group ${groupId} are not here when they are to be trained on; this is a defect of the loop`,
    address: groupId,
  })
}

export function trainerQueueFull(limit: number): TroupeError {
  return new TroupeError({
    tag: 'trainer-queue-full',
    message: `${limit} questions wait for the trainer, and no more may; wait for answers before asking on`,
    details: { limit },
  })
}

export function noTokens(step: number): TroupeError {
  return new TroupeError({
    tag: 'no-tokens',
    message: `none of the graded runs of training step ${step} has token ids, so nothing can be learned from them; use an agent that asks its model for tokens (return_token_ids and logprobs), and a model that returns them`,
    details: { step },
  })
}

export function policyMoved(expected: string | null, found: string | null): TroupeError {
  const name = (id: string | null) => (id === null ? "the model's base" : `checkpoint ${id}`)
  return new TroupeError({
    tag: 'policy-moved',
    message: `the model's head is ${name(found)}, and this training left it at ${name(expected)}; set the head back there and start the same command again, or begin a new job`,
    details: { expected, found },
  })
}

export function nothingTrained(steps: number, reason: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'nothing-trained',
      message: `${steps} training steps in a row ended without training (${reason}), so the training was stopped; the rollouts are kept, and the same command goes on from there`,
      details: { steps, reason },
    },
    cause,
  )
}

export function groupsLost(step: number, counts: Readonly<Record<string, number>>): TroupeError {
  return new TroupeError({
    tag: 'groups-lost',
    message: `the groups of training step ${step} do not add up: ${JSON.stringify(counts)}; this is a defect of the loop`,
    details: { step, ...counts },
  })
}

export function unreadableMark(key: string): TroupeError {
  return new TroupeError({
    tag: 'unreadable-mark',
    message: `the journal's record ${key} is none that this Troupe wrote; take the one that wrote it, or begin a new job`,
    address: key,
  })
}
