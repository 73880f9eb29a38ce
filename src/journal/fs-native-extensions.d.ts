/** What is used of it; the package has no types. */
declare module 'fs-native-extensions' {
  /** Locks bytes of a file for an open file description, without waiting; false when another one has them. Throws the system's other errors. */
  export function tryLock(
    descriptor: number,
    offset: number,
    length: number,
    options?: { readonly shared?: boolean },
  ): boolean
  export function unlock(descriptor: number, offset: number, length: number): void
}
