import { readdirSync, readlinkSync } from 'node:fs'

/** Other processes that have the file open, as far as this user may see; none where the system does not tell. For messages: by the time it is read some may have ended. */
export function whoHasOpen(path: string): readonly number[] {
  return list('/proc')
    .map(Number)
    .filter(pid => pid > 0 && pid !== process.pid)
    .filter(pid => list(`/proc/${pid}/fd`).some(descriptor => leadsTo(`/proc/${pid}/fd/${descriptor}`, path)))
}

/** Nothing of a process that has ended, that is somebody else's, or on another system. */
function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function leadsTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path
  } catch {
    return false
  }
}
