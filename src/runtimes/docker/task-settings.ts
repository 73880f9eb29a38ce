import { mergeRuntimeConfig, type RuntimeConfig } from '../../taskset/runtime-config.ts'
import type { Task } from '../../taskset/task.ts'
import { unappliedResources } from '../configure.ts'
import type { ConfiguredTask } from '../runtime.ts'
import { type DockerSettings, type ImageSource, LEAST_MEMORY_BYTES } from './settings.ts'

const MIB = 1024 ** 2

/** What one sandbox is made from and with. */
export interface TaskSettings extends Pick<DockerSettings, 'memoryBytes' | 'cpus' | 'startDeadlineMs'> {
  readonly source: ImageSource
  readonly gpus: number | undefined
  /** Bytes that have to be free on its disk. */
  readonly freeDiskBytes: number | undefined
  /** Seconds that it may live once it answers. */
  readonly runLimitS: number | undefined
}

/** The row's wishes over the runtime's options, and what an engine cannot do of them. */
export function configureTask(settings: DockerSettings, task: Task | undefined): ConfiguredTask {
  const { source, cpus, memoryBytes } = settings
  const own: RuntimeConfig = {
    ...(source.kind === 'image' ? { image: source.name } : {}),
    resources: {
      ...(cpus === undefined ? {} : { cpu: cpus }),
      ...(memoryBytes === undefined ? {} : { memory_mb: memoryBytes / MIB }),
    },
  }
  const row = task?.runtime_config
  const merged = mergeRuntimeConfig(own, row)
  const config = { ...merged, resources: { ...own.resources, ...row?.resources } }
  const { cpu, memory_mb: memory, gpu } = row?.resources ?? {}
  const problems = [
    ...(row?.compose === undefined
      ? []
      : ['runtime_config.compose: Compose projects are not started here; build one image of what the task needs']),
    ...(row?.image === undefined || /^\S+$/.test(row.image) ? [] : ["runtime_config.image: is no image's name"]),
    ...(cpu === undefined || cpu >= 0.01 ? [] : ['runtime_config.resources.cpu: an engine gives 0.01 at the least']),
    ...(memory === undefined || memory * MIB >= LEAST_MEMORY_BYTES
      ? []
      : [`runtime_config.resources.memory_mb: an engine gives ${LEAST_MEMORY_BYTES / MIB} at the least`]),
    ...(gpu?.type === undefined
      ? []
      : ['runtime_config.resources.gpu.type: an engine cannot choose by type; say count alone, or use daytona']),
    ...unappliedResources(row ?? {}, {
      os: 'containers are Linux; leave it out',
      tpu: 'a container has none; use a runtime that does',
    }),
  ]
  return { config, problems }
}

export function toTaskSettings(settings: DockerSettings, task: Task | undefined): TaskSettings {
  const { config } = configureTask(settings, task)
  const { image, resources = {}, limits = {} } = config
  const { cpu, memory_mb: memory, storage_mb: disk, gpu } = resources
  const ownImage = task?.runtime_config?.image
  return {
    source: ownImage === undefined || image === undefined ? settings.source : { kind: 'image', name: image },
    ...(cpu === undefined ? {} : { cpus: cpu }),
    ...(memory === undefined ? {} : { memoryBytes: memory * MIB }),
    gpus: gpu?.count,
    freeDiskBytes: disk === undefined ? undefined : disk * MIB,
    startDeadlineMs:
      limits.startup_timeout_s === undefined ? settings.startDeadlineMs : limits.startup_timeout_s * 1_000,
    runLimitS: limits.run_timeout_s,
  }
}
