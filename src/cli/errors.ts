/** What can be wrong with a command line, in words; everything else is worded where it is found. */
import { TroupeError, toErrorData } from '../errors.ts'
import type { OpenFilesLack } from '../runtimes/open-files.ts'

export function noEnvironment(runtime: string): TroupeError {
  return new TroupeError({
    tag: 'no-environment',
    message: `the ${runtime} runtime serves an environment itself and there is no env.ts beside the tasks. Name one with --env FILE, or use --runtime url --url HOST:PORT for one that is already served.`,
  })
}

export function noSnapshot(image: string): TroupeError {
  return new TroupeError({
    tag: 'no-snapshot',
    message: `nothing says what sandboxes are made from: there is no ${image} in this directory. Name a Dockerfile with --image FILE, or a snapshot that is there with --snapshot NAME.`,
  })
}

export function noImage(file: string): TroupeError {
  return new TroupeError({
    tag: 'no-image',
    message: `nothing says what containers are made from: there is no ${file} beside the tasks or in this directory. Name a Dockerfile, or an image, with --image.`,
  })
}

export function outsideOfImage(environment: string, directory: string): TroupeError {
  return new TroupeError({
    tag: 'outside-of-image',
    address: environment,
    message: `${environment} is not in ${directory}, and only what is there is in the image. Say which file of the image is served with --env FILE, or how with --serve-command.`,
  })
}

export function missingOption(option: string, why: string): TroupeError {
  return new TroupeError({ tag: 'missing-option', message: `${option} is missing: ${why}.` })
}

export function conflictingOptions(one: string, other: string, advice: string): TroupeError {
  return new TroupeError({
    tag: 'conflicting-options',
    message: `${one} and ${other} do not go together: ${advice}.`,
  })
}

export function chunkTooSmall(chunk: number, group: number): TroupeError {
  return new TroupeError({
    tag: 'chunk-too-small',
    message: `--chunk ${chunk} is smaller than one group of ${group}, and a chunk holds whole groups only. Use --chunk ${group} or more.`,
  })
}

export function tooFewOpenFiles(sandboxes: number, { needed, limit, fits }: OpenFilesLack): TroupeError {
  return new TroupeError({
    tag: 'too-few-open-files',
    message: `${sandboxes} sandboxes at once need about ${needed} open files, and this process may have ${limit}. Raise the limit (ulimit -n ${needed}), or ask for ${fits} at most with --max-concurrent and --pool.`,
    details: { sandboxes, needed, limit, fits },
  })
}

export function nothingUngraded(job: string): TroupeError {
  return new TroupeError({
    tag: 'nothing-ungraded',
    address: job,
    message: `every run of ${job} that is in the journal has a grade. Leave --ungraded-of out to run tasks anew.`,
  })
}

export function unknownRecord(kind: 'run' | 'job', text: string, journal: string): TroupeError {
  return new TroupeError({
    tag: `unknown-${kind}`,
    address: journal,
    message: `the journal ${journal} has no ${kind} "${text}". See \`troupe runs --journal ${journal}\` for what it has.`,
  })
}

export function ambiguousRecord(kind: 'run' | 'job', text: string, matches: readonly string[]): TroupeError {
  return new TroupeError({
    tag: `ambiguous-${kind}`,
    message: `"${text}" is the beginning of ${matches.length} ${kind} ids: ${matches.slice(0, 4).join(', ')}${matches.length > 4 ? ', …' : ''}. Write more of it.`,
  })
}

export function noJournal(directory: string): TroupeError {
  return new TroupeError({
    tag: 'no-journal',
    address: directory,
    message: `there is no journal at ${directory}. \`troupe eval\` writes one; name another with --journal DIR.`,
  })
}

export function notAnAddress(text: string): TroupeError {
  return new TroupeError({
    tag: 'not-an-address',
    address: text,
    message: `${text} is no address. Write it as the dashboard printed it, http://127.0.0.1:PORT for instance, or name a journal's directory.`,
  })
}

export function nothingToTrainOn(taskset: string, splits: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'nothing-to-train-on',
    address: taskset,
    message: `the tasks of "${taskset}" have splits (${splits.join(', ')}), and none is "train". Name the tasks to train on with --task-ids.`,
  })
}

export function tasksOverlap(option: string, slugs: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'tasks-overlap',
    message: `${slugs.slice(0, 4).join(', ')}${slugs.length > 4 ? ', …' : ''} would be trained on and measured as ${option.slice(2)}, which proves nothing. Choose others with --task-ids or ${option}, or measure nothing with --no-eval.`,
    details: { option, slugs },
  })
}

export function chunkNotWhole(chunk: number, group: number): TroupeError {
  const below = Math.floor(chunk / group) * group
  return new TroupeError({
    tag: 'chunk-not-whole',
    message: `--chunk ${chunk} is no multiple of --group ${group}, and a chunk holds whole groups only. Use --chunk ${below > 0 ? `${below} or ${below + group}` : group}.`,
  })
}

export function ladderNotDone(problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'ladder-not-done',
    message: `the live ladder could not be measured, so there is nothing to fit: ${problems.join('; ')}. Mend that, or give a receipt with --receipt FILE.`,
    details: { problems },
  })
}

export function groupsNotWhole(rollouts: number, group: number): TroupeError {
  return new TroupeError({
    tag: 'groups-not-whole',
    message: `--rollouts ${rollouts} is no multiple of --group ${group}, and a step consists of whole groups. Use --rollouts ${Math.max(1, Math.round(rollouts / group)) * group}.`,
  })
}

export function noBase(tried: string): TroupeError {
  return new TroupeError({
    tag: 'no-base',
    address: tried,
    message: `there is no base of an embedded policy at ${tried}. Name one with --base FILE, make one with \`troupe policy make DEMONSTRATIONS --out FILE\`, or train a model of a service with --trainer hud --model SLUG.`,
  })
}

export function notAUrl(text: string): TroupeError {
  return new TroupeError({
    tag: 'not-a-url',
    message: `"${text}" is not the address of a server. Write it as \`troupe policy serve\` prints it: http://127.0.0.1:8000.`,
  })
}

export function modelSilent(model: string, waitedMs: number): TroupeError {
  return new TroupeError({
    tag: 'model-silent',
    address: model,
    message: `the model "${model}" gave no completion within ${waitedMs / 1000} s. Check that its server is up and has room, and try again.`,
  })
}

export function noSuchFile(path: string): TroupeError {
  return new TroupeError({
    tag: 'no-such-file',
    address: path,
    message: `there is no ${path}. Name a module with demonstrations, such as environments/calc/demonstrations.ts.`,
  })
}

export function notDemonstrations(path: string, problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'not-demonstrations',
    address: path,
    message: `${path} is no source of demonstrations: ${problems.join('; ')}. Export one as default; environments/arith/demonstrations.ts is the smallest.`,
    details: { problems },
  })
}

export function wouldReplace(path: string): TroupeError {
  return new TroupeError({
    tag: 'would-replace',
    address: path,
    message: `${path} is there already. Choose another name with --out, or replace it with --force.`,
  })
}

export function notWritten(path: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'not-written',
      address: path,
      message: `${path} could not be written: ${toErrorData(cause).message}. Name a file in a directory where you may write with --out.`,
    },
    cause,
  )
}
