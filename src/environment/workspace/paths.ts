import { posix } from 'node:path'
import { pathRefused } from './errors.ts'

/**
 * The components of a path below the workspace. Absolute paths must start with `root` (the directory as commands see it);
 * the rest is taken relative to it. Throws `path-refused` for one that leaves it, in whatever spelling, and for the root itself.
 */
export function toComponents(path: string, root: string): readonly string[] {
  if (path.includes('\0')) throw pathRefused(JSON.stringify(path), 'it holds a zero byte')
  const relative = posix.isAbsolute(path) ? posix.relative(root, posix.normalize(path)) : posix.normalize(path)
  const components = relative.split('/').filter(part => part !== '' && part !== '.')
  if (components.includes('..')) throw pathRefused(path, 'it leads out of the workspace')
  if (components.length === 0) throw pathRefused(path, 'it names no file')
  return components
}
