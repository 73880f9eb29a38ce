/** What can go wrong with a feed, in words. */
import { TroupeError } from '../errors.ts'

export function feedUnreachable(target: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'feed-unreachable',
      address: target,
      message: `nobody serves a live feed at ${target}: ${why}. The engine may have ended, or was started without a journal; \`troupe runs\` shows what is kept.`,
    },
    cause,
  )
}

export function feedRefused(target: string, status: number, why: string): TroupeError {
  return new TroupeError({
    tag: 'feed-refused',
    address: target,
    message: `${target} refuses the feed with status ${status}: ${why}`,
    details: { status },
  })
}

export function feedForeign(target: string, why: string): TroupeError {
  return new TroupeError({
    tag: 'feed-foreign',
    address: target,
    message: `what answers at ${target} is no feed of this version: ${why}. Use the same version of Troupe on both sides.`,
  })
}

export function feedSilent(target: string, waitedMs: number): TroupeError {
  return new TroupeError({
    tag: 'feed-silent',
    address: target,
    message: `${target} said nothing for ${waitedMs / 1_000} s, though it is to give a sign every 15 s. Its process may hang.`,
  })
}

export function tooManyWatch(limit: number): TroupeError {
  return new TroupeError({
    tag: 'too-many-watch',
    message: `${limit} watch already, which is the limit. Close a page of this dashboard, or a \`troupe top\`, and try again.`,
  })
}

export function socketNotOpened(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'feed-socket-not-opened',
      address: path,
      message: `no live feed at ${path}: ${why}. The job goes on, and \`troupe dashboard\` and \`troupe top\` follow its journal instead.`,
    },
    cause,
  )
}

export function socketPathTooLong(path: string, limit: number): TroupeError {
  return new TroupeError({
    tag: 'feed-socket-path-too-long',
    address: path,
    message: `no live feed at ${path}: a socket's path has ${limit} bytes at most, and this has ${Buffer.byteLength(path)}. The job goes on, and \`troupe dashboard\` and \`troupe top\` follow its journal instead; give a shorter --journal for live figures.`,
  })
}

export function nothingToFollow(directory: string): TroupeError {
  return new TroupeError({
    tag: 'nothing-to-follow',
    address: directory,
    message: `the journal ${directory} has no job yet. Start one with \`troupe train\` or \`troupe eval\`, or name another journal; --journal of those says which.`,
  })
}
