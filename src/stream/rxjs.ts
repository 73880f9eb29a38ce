import { createRequire } from 'node:module'

type Rxjs = typeof import('rxjs')

let loaded: Rxjs | undefined

/**
 * RxJS, loaded with the first stream and not with the library: it is two hundred files. Node has one copy of it, whether it is imported or required, so that
 * a stream made here is an Observable to whoever embeds it.
 */
export function rxjs(): Rxjs {
  loaded ??= load()
  return loaded
}

function load(): Rxjs {
  return createRequire(import.meta.url)('rxjs')
}
