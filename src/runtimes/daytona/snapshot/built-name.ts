const BUILT_NAME = /^(.+)-[0-9a-f]{12}$/

/** Of a snapshot that was built here: `BASE-HASH`, the hash of all that goes into it. */
export const toBuiltName = (base: string, hash: string): string => `${base}-${hash}`

/** The name without its hash; undefined for one that was not built here. */
export const toBase = (name: string): string | undefined => BUILT_NAME.exec(name)?.[1]
