import { closeSync, readdirSync, readFileSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Descriptors beyond the usual three that whoever started this process left open in it, and that every program it starts would
 * be given in turn, sandboxes included. Node marks its own so that they are not, but of what it inherits only the first few.
 */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter(descriptor => descriptor > 2 && !closesOnExec(descriptor))
}

/** For a process of our own at its start, before it has opened anything that is not marked. */
export function closeInheritedDescriptors(): void {
  // With a channel to its parent, one of them is that channel's.
  if (process.channel !== undefined) return
  for (const descriptor of inheritedDescriptors()) closeSync(descriptor)
}

/** Starts a program without them. bash, because other shells take single digits only. */
export function withoutDescriptors(descriptors: readonly number[]): readonly string[] {
  if (descriptors.length === 0) return []
  const closed = descriptors.map(descriptor => `${descriptor}>&-`).join(' ')
  return ['/bin/bash', '--noprofile', '--norc', '-c', `exec "$@" ${closed}`, 'without']
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    return true // the listing's own descriptor, which is gone
  }
}
