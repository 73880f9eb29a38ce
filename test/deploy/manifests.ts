import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { repository } from '../support/source-imports.ts'

/** What of the files in `deploy/` the tests look at. Fields that are not named here are left as they are. */

const words = z.array(z.string())
const quantity = z.union([z.string(), z.number()])

const mounted = z.object({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() })
const reference = z.object({ name: z.string(), key: z.string().optional(), optional: z.boolean().optional() })
const container = z.object({
  name: z.string(),
  image: z.string(),
  args: words,
  env: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z.object({ secretKeyRef: reference.optional(), fieldRef: z.unknown().optional() }).optional(),
      }),
    )
    .default([]),
  envFrom: z.array(z.object({ secretRef: reference })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  resources: z.object({
    requests: z.object({ cpu: quantity, memory: quantity }),
    limits: z.object({ memory: quantity }),
  }),
  volumeMounts: z.array(mounted).default([]),
})
export type Container = z.output<typeof container>

const pod = z.object({
  terminationGracePeriodSeconds: z.number(),
  containers: z.array(container).length(1),
  volumes: z
    .array(
      z.object({
        name: z.string(),
        configMap: z.object({ name: z.string() }).optional(),
        secret: z.object({ secretName: z.string() }).optional(),
        persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
      }),
    )
    .default([]),
})
export type Pod = z.output<typeof pod>

const template = z.object({
  metadata: z.object({
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: pod,
})
const manifest = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.record(z.string(), z.unknown()).default({}),
})
export type Manifest = z.output<typeof manifest>

const service = z.object({
  image: z.string(),
  command: z.union([words, z.string()]),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  env_file: z.string().optional(),
  secrets: words.default([]),
  volumes: words.default([]),
  stop_grace_period: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: words }).optional(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
})
const compose = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.unknown()),
})

const kustomization = z.object({
  resources: words,
  configMapGenerator: z.array(z.object({ name: z.string(), files: words })),
  secretGenerator: z.array(z.object({ name: z.string(), files: words.default([]), envs: words.default([]) })),
  images: z.array(z.object({ name: z.string(), newTag: z.string() })),
})

export const readDeploy = (path: string): string => readFileSync(join(repository, 'deploy', path), 'utf8')

export const readCompose = (): z.output<typeof compose> =>
  compose.parse(parse(readDeploy('compose.yaml'), { merge: true }))

export const readKustomization = (): z.output<typeof kustomization> =>
  kustomization.parse(parse(readDeploy('kustomization.yaml')))

/** Every object of a file, as kubectl would read it: no two of the same key in one, and no mistake that the reader passes over. */
export function readManifests(path: string): readonly Manifest[] {
  return parseAllDocuments(readDeploy(path)).map(document => {
    if (document.errors.length > 0 || document.warnings.length > 0)
      throw new Error(`${path}: ${[...document.errors, ...document.warnings].join('; ')}`)
    return manifest.parse(document.toJS())
  })
}

/** The pods of a Deployment, a StatefulSet or a Job; undefined for what has none. */
export function podOf({ kind, spec }: Manifest): z.output<typeof template> | undefined {
  return ['Deployment', 'StatefulSet', 'Job'].includes(kind) ? template.parse(spec.template) : undefined
}
