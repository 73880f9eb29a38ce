import {
  type Complain,
  type Fields,
  readList,
  readObject,
  readOptional,
  readPositive,
  readText,
  readWhole,
  refuseOthers,
} from './read-fields.ts'
import type { RuntimeConfig, RuntimeLimits, RuntimeResources } from './runtime-config.ts'

/** A row's `runtime_config`. Every field that nobody knows, and every value that cannot be, is complained of with its place in the row. */
export function readRuntimeConfig(value: unknown, path: string, complain: Complain): RuntimeConfig | undefined {
  const fields = readObject(value, path, complain)
  if (fields === undefined) return undefined
  refuseOthers(fields, path, ['image', 'compose', 'resources', 'limits'], complain)
  const image = readOptional(fields.image, `${path}.image`, readText, complain)
  const compose = readOptional(fields.compose, `${path}.compose`, readObject, complain)
  const resources = readOptional(fields.resources, `${path}.resources`, readResources, complain)
  const limits = readOptional(fields.limits, `${path}.limits`, readLimits, complain)
  if (image !== undefined && compose !== undefined)
    complain(`"${path}" has an image and a Compose project, and a sandbox is made from one of them`)
  return present({ image, compose, resources, limits })
}

function readResources(value: unknown, path: string, complain: Complain): RuntimeResources | undefined {
  const fields = readObject(value, path, complain)
  if (fields === undefined) return undefined
  refuseOthers(fields, path, ['cpu', 'memory_mb', 'storage_mb', 'gpu', 'os', 'tpu'], complain)
  return present({
    cpu: readOptional(fields.cpu, `${path}.cpu`, readPositive, complain),
    memory_mb: readOptional(fields.memory_mb, `${path}.memory_mb`, readWhole, complain),
    storage_mb: readOptional(fields.storage_mb, `${path}.storage_mb`, readWhole, complain),
    gpu: readOptional(fields.gpu, `${path}.gpu`, readGpu, complain),
    os: readOptional(fields.os, `${path}.os`, readText, complain),
    tpu: readOptional(fields.tpu, `${path}.tpu`, readTpu, complain),
  })
}

type Gpu = NonNullable<RuntimeResources['gpu']>
type Tpu = NonNullable<RuntimeResources['tpu']>

function readGpu(value: unknown, path: string, complain: Complain): Gpu | undefined {
  const fields = readObject(value, path, complain)
  if (fields === undefined) return undefined
  refuseOthers(fields, path, ['type', 'count'], complain)
  const type = readOptional(fields.type, `${path}.type`, readType, complain)
  const count = readOptional(fields.count, `${path}.count`, readWhole, complain) ?? 1
  return { count, ...(type === undefined ? {} : { type }) }
}

/** One type, or those of which any will do. */
function readType(value: unknown, path: string, complain: Complain): string | readonly string[] | undefined {
  if (!Array.isArray(value)) return readText(value, path, complain)
  if (value.length === 0) complain(`"${path}" is an empty list`)
  return readList(value, path, readText, complain)
}

function readTpu(value: unknown, path: string, complain: Complain): Tpu | undefined {
  const fields = readObject(value, path, complain)
  if (fields === undefined) return undefined
  refuseOthers(fields, path, ['type', 'topology'], complain)
  const type = readText(fields.type, `${path}.type`, complain)
  const topology = readText(fields.topology, `${path}.topology`, complain)
  if (topology !== undefined && !/^[1-9]\d*(x[1-9]\d*)+$/.test(topology))
    complain(`"${path}.topology" must be numbers with an x between them, such as 2x4`)
  return type === undefined || topology === undefined ? undefined : { type, topology }
}

function readLimits(value: unknown, path: string, complain: Complain): RuntimeLimits | undefined {
  const fields = readObject(value, path, complain)
  if (fields === undefined) return undefined
  refuseOthers(fields, path, ['startup_timeout_s', 'run_timeout_s'], complain)
  return present({
    startup_timeout_s: readOptional(fields.startup_timeout_s, `${path}.startup_timeout_s`, readWhole, complain),
    run_timeout_s: readOptional(fields.run_timeout_s, `${path}.run_timeout_s`, readWhole, complain),
  })
}

/** Without the keys that have no value: a row in which they are null says nothing of them. */
function present<Given extends Fields>(given: Given): { [Key in keyof Given]?: NonNullable<Given[Key]> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof Given]?: NonNullable<Given[Key]> }
}
