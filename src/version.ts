import { readFileSync } from 'node:fs'

/** This package's. package.json is one directory up in the sources and two in the build. */
export function readVersion(): string {
  for (const up of ['../package.json', '../../package.json'])
    try {
      const found: unknown = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8'))
      if (typeof found === 'object' && found !== null && 'version' in found) return String(found.version)
    } catch {
      // Not there: the other place has it.
    }
  return 'unknown'
}
