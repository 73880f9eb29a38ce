import type { GpuType } from '@daytona/api-client'
import { mergeRuntimeConfig, type RuntimeConfig } from '../../taskset/runtime-config.ts'
import type { Task } from '../../taskset/task.ts'
import { unappliedResources } from '../configure.ts'
import type { ConfiguredTask } from '../runtime.ts'
import type { Resources } from './sandbox/new-sandbox.ts'
import type { DaytonaSettings } from './settings.ts'

const MIB_OF_GIB = 1024
/** What the provider calls the types of its GPUs. */
const GPU_TYPES: readonly GpuType[] = ['H100', 'H200', 'B300', 'RTX-PRO-6000', 'RTX-4090', 'RTX-5090', 'MI355X']

/** What one sandbox is made from and with, where that is not as the runtime makes the others. */
export interface TaskSettings {
  /** In place of the runtime's own snapshot. */
  readonly image: string | undefined
  readonly resources: Resources
  readonly startDeadlineMs: number
  /** Seconds that it may live once it answers. */
  readonly runLimitS: number | undefined
}

/** The row's wishes over the runtime's options, and what the provider cannot do of them. */
export function configureTask(settings: DaytonaSettings, task: Task): ConfiguredTask {
  const { cpu, memory, disk } = settings.resources ?? {}
  const own: RuntimeConfig = {
    resources: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory_mb: memory * MIB_OF_GIB }),
      ...(disk === undefined ? {} : { storage_mb: disk * MIB_OF_GIB }),
    },
  }
  const row = task.runtime_config
  const config = { ...mergeRuntimeConfig(own, row), resources: { ...own.resources, ...row?.resources } }
  const wanted = row?.resources ?? {}
  const unknown = toTypes(wanted.gpu?.type).filter(type => toGpuType(type) === undefined)
  const problems = [
    ...(row?.compose === undefined
      ? []
      : ['runtime_config.compose: Compose projects are not started here; build one image of what the task needs']),
    ...(row?.image === undefined || settings.command !== undefined
      ? []
      : ['runtime_config.image: nothing says how it serves its environment; give the runtime its `command`']),
    ...(wanted.cpu === undefined || Number.isInteger(wanted.cpu)
      ? []
      : ['runtime_config.resources.cpu: the provider gives whole CPUs']),
    ...(unknown.length === 0
      ? []
      : [`runtime_config.resources.gpu.type: ${unknown.join(', ')} is none of ${GPU_TYPES.join(', ')}`]),
    ...unappliedResources(row ?? {}, {
      os: "a sandbox's system is its image's; leave it out",
      tpu: 'a sandbox has none; use a runtime that does',
    }),
  ]
  return { config, problems }
}

/** Memory and disk are whole GiB there: what is asked for is rounded up. */
export function toTaskSettings(settings: DaytonaSettings, task: Task): TaskSettings {
  const { config } = configureTask(settings, task)
  const { resources = {}, limits = {}, image } = config
  const { cpu, memory_mb: memory, storage_mb: disk, gpu } = resources
  const types = toTypes(gpu?.type).flatMap(type => toGpuType(type) ?? [])
  return {
    image,
    resources: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory: Math.ceil(memory / MIB_OF_GIB) }),
      ...(disk === undefined ? {} : { disk: Math.ceil(disk / MIB_OF_GIB) }),
      ...(gpu === undefined ? {} : { gpu: gpu.count }),
      ...(types.length === 0 ? {} : { gpuType: types }),
    },
    startDeadlineMs:
      limits.startup_timeout_s === undefined ? settings.startDeadlineMs : limits.startup_timeout_s * 1_000,
    runLimitS: limits.run_timeout_s,
  }
}

const toTypes = (type: string | readonly string[] | undefined): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type

const toGpuType = (text: string): GpuType | undefined => GPU_TYPES.find(type => type === text)
