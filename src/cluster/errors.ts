/** What can go wrong between a coordinator and its workers, in words. */
import { type ErrorData, TroupeError } from '../errors.ts'

export function badClusterMessage(subject: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'bad-cluster-message',
      message: `a message on ${subject} is none of Troupe's: ${why}. Let nobody else write to troupe.>; deploy/nats/troupe.conf does.`,
      address: subject,
    },
    cause,
  )
}

/** Errors of the client library say what, but not what becomes of it. */
export function natsTrouble(cause: unknown): TroupeError {
  const why = cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'nats-trouble',
      message: `NATS did not do what it was asked (${why}); it is asked again until it does. Said once for each reason.`,
    },
    cause,
  )
}

/** Both sides tell it: `job` is what the coordinator has, `worker` what the worker has. */
export function workerVersion(
  worker: string,
  versions: {
    readonly job: { readonly version: string; readonly protocol: number }
    readonly worker: { readonly version: string; readonly protocol: number }
  },
): ErrorData {
  const { job, worker: own } = versions
  return {
    tag: 'worker-version',
    message: `the worker ${worker} is Troupe ${own.version} (protocol ${own.protocol}) and the job's coordinator Troupe ${job.version} (protocol ${job.protocol}): it is given nothing. Run the same version in both places.`,
    address: worker,
    details: versions,
  }
}

export function workerLost(worker: string, silentMs: number): ErrorData {
  return {
    tag: 'worker-lost',
    message: `the worker ${worker} gave no sign of life for ${Math.round(silentMs)} ms; its groups go to others once the server has waited as long as it was told to.`,
    address: worker,
  }
}

export function workerRefused(worker: string, cause: ErrorData): ErrorData {
  return {
    tag: 'worker-refused',
    message: `the worker ${worker} cannot work for this job and takes nothing of it: ${cause.message}`,
    address: worker,
    cause,
  }
}

export function coordinatorLost(jobId: string, silentMs: number): ErrorData {
  return {
    tag: 'coordinator-lost',
    message: `nothing was heard of the coordinator of ${jobId} for ${Math.round(silentMs)} ms; its groups are given up here. It goes on with them when it is back.`,
    address: jobId,
  }
}

/** A life of a job's coordinator. */
export interface CoordinatorName {
  readonly epoch: string
  readonly host: string
}

/** `other` is undefined where it has ended already. */
export function jobTakenOver(jobId: string, own: CoordinatorName, other: CoordinatorName | undefined): TroupeError {
  const who = other === undefined ? 'which has ended since' : `life ${other.epoch} on ${other.host}`
  return new TroupeError({
    tag: 'job-taken-over',
    message: `${jobId} was taken over by another coordinator, ${who}; this one, life ${own.epoch} on ${own.host}, ends, so that nothing is done twice. A job has one coordinator: start the command once, or with another --journal where both were meant to run.`,
    address: jobId,
    details: { own, ...(other === undefined ? {} : { other }) },
  })
}

/** `known` is undefined where the journal has no trained step at all. */
export function policyAhead(
  jobId: string,
  served: { readonly step: number; readonly version: string; readonly epoch: string },
  known: { readonly step: number; readonly version: string } | undefined,
): TroupeError {
  const own = known === undefined ? 'has no trained step' : `ends with step ${known.step} (${known.version})`
  return new TroupeError({
    tag: 'policy-ahead',
    message: `${jobId} has served the policy ${served.version} of step ${served.step} (life ${served.epoch}, bucket troupe-policy), and this journal ${own}: it is an older copy, and what was trained since would be trained again. Start the command with the newer journal; or, where that is lost, set the model's head back to what this one says, delete the key (nats kv del troupe-policy ${jobId}), and start it again.`,
    address: jobId,
    details: { served, ...(known === undefined ? {} : { known }) },
  })
}

/** Told by a worker. */
export function coordinatorReplaced(jobId: string): ErrorData {
  return {
    tag: 'coordinator-replaced',
    message: `the coordinator of ${jobId} was started anew; what its former life had given out here is given up, and it goes on with the new one.`,
    address: jobId,
  }
}

export function planExhausted(groupId: string, deliveries: number): ErrorData {
  return {
    tag: 'plan-exhausted',
    message: `the group ${groupId} was given to ${deliveries} workers and none of them lived to end it; its missing members count as lost. Its plan is kept among the dead letters (${deliveries} deliveries are the most).`,
    address: groupId,
    details: { deliveries },
  }
}

export function linkGap(peer: string): ErrorData {
  return {
    tag: 'link-gap',
    message: `messages from ${peer} were lost on the way, as they are when a connection to NATS breaks; the link begins anew.`,
    address: peer,
  }
}

export function linkSilent(peer: string): ErrorData {
  return {
    tag: 'link-silent',
    message: `nothing was heard of ${peer} for some seconds; the link is taken down, and begins anew when it is back.`,
    address: peer,
  }
}

export function linkReset(peer: string): ErrorData {
  return {
    tag: 'link-reset',
    message: `${peer} has closed the link, or began it anew.`,
    address: peer,
  }
}

/** Refused where the run begins already: this is for a coordinator that did not look. */
export function agentCannotTravel(): TroupeError {
  return new TroupeError({
    tag: 'agent-cannot-travel',
    message: 'a closure agent lives in the process that made it; make it a module to run it on workers',
  })
}

export function noWorkers(servers: string): ErrorData {
  return {
    tag: 'no-workers',
    message: `nobody works for this job yet; start workers: troupe worker --nats ${servers}`,
  }
}

/** Heard by the bucket that asks, which goes on by itself. */
export function limitKeptByNobody(): TroupeError {
  return new TroupeError({
    tag: 'limit-kept-by-nobody',
    message: 'the worker works for no job now, so that there is no coordinator to ask for creates',
  })
}

export function trajectoryMissing(object: string): TroupeError {
  return new TroupeError({
    tag: 'trajectory-missing',
    message: `the trajectory ${object} is not in the object store, although a run names it; its group is run again.`,
    address: object,
  })
}
