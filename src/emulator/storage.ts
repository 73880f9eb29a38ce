import type { FastifyInstance } from 'fastify'
import { list } from 'tar'
import { refused } from './errors.ts'

export const BUCKET = 'contexts'
export const ACCESS_KEY = 'emulator'

interface Stored {
  readonly bytes: number
  readonly entries: readonly string[]
}

/** What was pushed, by name and size. Of contexts it is kept what is in them, never what that holds. */
export interface Storage {
  /** The paths in an archive, directories too, without a slash at the end; undefined when nothing of that name was pushed. */
  entries(key: string): readonly string[] | undefined
  put(key: string, body: Buffer): Promise<void>
  list(prefix: string): readonly { readonly key: string; readonly bytes: number }[]
}

export function makeStorage(): Storage {
  const objects = new Map<string, Stored>()
  return {
    entries: key => objects.get(key)?.entries,
    async put(key, body) {
      objects.set(key, { bytes: body.length, entries: await listArchive(body) })
    },
    list: prefix => [...objects].filter(([key]) => key.startsWith(prefix)).map(([key, { bytes }]) => ({ key, bytes })),
  }
}

/** Resolves with nothing for what is no archive. */
function listArchive(body: Buffer): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const entries: string[] = []
    const parser = list({ onReadEntry: ({ path }) => void entries.push(path.replace(/\/$/, '')) })
    parser.on('end', () => resolve(entries))
    parser.on('error', reject)
    parser.end(body)
  })
}

/** As much of S3 as a push of contexts needs: ListObjectsV2, PutObject and uploads in parts. */
export function addStorageRoutes(app: FastifyInstance, storage: Storage): void {
  const uploads = new Map<string, Map<number, Buffer>>()
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
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      reply.type('application/xml')
      if (method === 'GET' && key === '') return toListing(query.prefix ?? '', storage)
      if (method === 'PUT') {
        const { uploadId } = query
        if (uploadId === undefined) await storage.put(key, body)
        else uploads.set(uploadId, (uploads.get(uploadId) ?? new Map()).set(Number(query.partNumber), body))
        return reply.header('etag', '"0"').send('')
      }
      if (method === 'POST' && query.uploads !== undefined) return toUpload(bucket, key, request.id)
      if (method === 'POST' && query.uploadId !== undefined) {
        const parts = [...(uploads.get(query.uploadId) ?? [])].sort(([one], [other]) => one - other)
        uploads.delete(query.uploadId)
        await storage.put(key, Buffer.concat(parts.map(([, part]) => part)))
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
