/** What a task's sandbox is to be, as its row says; the fields are those of HUD's `RuntimeConfig`. Which of them a runtime applies is its own to say. */
export interface RuntimeConfig {
  /** The image that the sandbox is made from, in place of the runtime's own. Not beside `compose`. */
  readonly image?: string
  /** A Compose project, as HUD's rows hold it: read, and applied by no runtime here. */
  readonly compose?: Readonly<Record<string, unknown>>
  readonly resources?: RuntimeResources
  readonly limits?: RuntimeLimits
}

/** What the sandbox of a task is to have. */
export interface RuntimeResources {
  /** CPUs; 0.5 is a half. */
  readonly cpu?: number
  /** MiB. */
  readonly memory_mb?: number
  /** MiB of disk. */
  readonly storage_mb?: number
  readonly gpu?: { readonly type?: string | readonly string[]; readonly count: number }
  readonly os?: string
  readonly tpu?: { readonly type: string; readonly topology: string }
}

/** Seconds. */
export interface RuntimeLimits {
  /** Until its environment answers. */
  readonly startup_timeout_s?: number
  /** From then on: a sandbox that gets older is ended. */
  readonly run_timeout_s?: number
}

/** What a runtime gives every sandbox, with the row's own over it, field by field; an image takes the place of a Compose project and the other way round. */
export function mergeRuntimeConfig(base: RuntimeConfig, own: RuntimeConfig | undefined): RuntimeConfig {
  if (own === undefined) return base
  const { image, compose, ...rest } = base
  const keepsSource = own.image === undefined && own.compose === undefined
  const source = keepsSource
    ? { ...(image === undefined ? {} : { image }), ...(compose === undefined ? {} : { compose }) }
    : {}
  return { ...source, ...rest, ...own }
}

/** The same text for the same configuration, however its keys are ordered. */
export function keyOfRuntimeConfig(config: RuntimeConfig): string {
  return JSON.stringify(sorted(config))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}
