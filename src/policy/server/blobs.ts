/** Named byte strings, such as a directory's files. */
export interface Blobs {
  /** Where they are, for messages. */
  readonly location: string
  /** The whole blob or, after a crash, none of it; durable when it resolves. Replaces one of the same name. */
  put(name: string, bytes: Uint8Array): Promise<void>
  get(name: string): Promise<Uint8Array | undefined>
  /** Nothing happens when it is not there. */
  remove(name: string): Promise<void>
  list(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Gone with the process. */
export function makeMemoryBlobs(): Blobs {
  const blobs = new Map<string, Uint8Array>()
  return {
    location: 'memory',
    async put(name, bytes) {
      blobs.set(name, bytes.slice())
    },
    get: async name => blobs.get(name)?.slice(),
    async remove(name) {
      blobs.delete(name)
    },
    list: async () => [...blobs.keys()],
    close: async () => {},
  }
}
