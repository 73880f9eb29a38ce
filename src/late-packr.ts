import { createRequire } from 'node:module'
import type { Options, Packr } from 'msgpackr'

/**
 * An instance, and an options object, of one's own: msgpackr writes into both. Without records, so that every value can be read by itself. Made, and msgpackr
 * loaded, when it is first asked for.
 */
export function latePackr(more: Options = {}): () => Packr {
  let packr: Packr | undefined
  return () => {
    packr ??= make()
    return packr
  }

  function make(): Packr {
    const { Packr }: typeof import('msgpackr') = createRequire(import.meta.url)('msgpackr')
    return new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true, ...more })
  }
}
