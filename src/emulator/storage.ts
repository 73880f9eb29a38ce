import type { FastifyInstance } from 'fastify'
import { refused } from './errors.ts'

export const BUCKET = 'contexts'
export const ACCESS_KEY = 'emulator'

/** What was pushed, by name and size: contexts are looked for and never unpacked. */
export interface Storage {
  has(key: string): boolean
  put(key: string, bytes: number): void
  list(prefix: string): readonly { readonly key: string; readonly bytes: number }[]
}

export function makeStorage(): Storage {
  const objects = new Map<string, number>()
  return {
    has: key => objects.has(key),
    put: (key, bytes) => void objects.set(key, bytes),
    list: prefix => [...objects].filter(([key]) => key.startsWith(prefix)).map(([key, bytes]) => ({ key, bytes })),
  }
}

/** As much of S3 as a push of contexts needs: ListObjectsV2, PutObject and uploads in parts. */
export function addStorageRoutes(app: FastifyInstance, storage: Storage): void {
  const parts = new Map<string, number>()
  app.route<{ Params: { '*': string }; Querystring: Record<string, string | undefined> }>({
    method: ['GET', 'PUT', 'POST', 'HEAD'],
    url: '/storage/*',
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      if (!String(request.headers.authorization).includes(`Credential=${ACCESS_KEY}/`))
        throw refused(403, 'AccessDenied')
      const [bucket, ...rest] = request.params['*'].split('/')
      if (bucket !== BUCKET) throw refused(404, 'NoSuchBucket')
      const key = rest.join('/')
      const { query, method } = request
      const bytes = Buffer.isBuffer(request.body) ? request.body.length : 0
      reply.type('application/xml')
      if (method === 'GET' && key === '') return toListing(query.prefix ?? '', storage)
      if (method === 'PUT') {
        if (query.uploadId === undefined) storage.put(key, bytes)
        else parts.set(query.uploadId, (parts.get(query.uploadId) ?? 0) + bytes)
        return reply.header('etag', '"0"').send('')
      }
      if (method === 'POST' && query.uploads !== undefined) return toUpload(bucket, key, request.id)
      if (method === 'POST' && query.uploadId !== undefined) {
        storage.put(key, parts.get(query.uploadId) ?? 0)
        parts.delete(query.uploadId)
        return `<CompleteMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${toXml(key)}</Key><ETag>"0"</ETag></CompleteMultipartUploadResult>`
      }
      throw refused(404, 'NoSuchKey')
    },
  })
}

function toListing(prefix: string, storage: Storage): string {
  const contents = storage
    .list(prefix)
    .map(({ key, bytes }) => `<Contents><Key>${toXml(key)}</Key><Size>${bytes}</Size></Contents>`)
  return `<ListBucketResult><Name>${BUCKET}</Name><Prefix>${toXml(prefix)}</Prefix><KeyCount>${contents.length}</KeyCount><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`
}

const toUpload = (bucket: string, key: string, id: string): string =>
  `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${toXml(key)}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`

const toXml = (text: string): string => text.replace(/[<>&]/g, each => `&#${each.charCodeAt(0)};`)
