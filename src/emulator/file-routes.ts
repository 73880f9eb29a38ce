import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { TroupeError } from '../errors.ts'
import { refused, toStatus } from './errors.ts'
import { files } from './files.ts'
import { parse } from './parse-body.ts'
import type { Site } from './site.ts'
import type { Space } from './space.ts'
import { requireStarted } from './toolbox-routes.ts'

const onPath = z.object({ path: z.string().min(1) })
const removeQuery = onPath.extend({ recursive: z.stringbool().default(false) })
const folderQuery = onPath.extend({ mode: z.string().default('755') })
const listQuery = z.object({ path: z.string().default('.'), depth: z.coerce.number().int().min(1).default(1) })

type Params = { Params: { id: string } }

export function addFileRoutes(app: FastifyInstance, site: Site): void {
  const { latency } = site.context
  const spaceOf = async ({ id }: Params['Params']): Promise<Space> => {
    const { space } = requireStarted(site, id)
    await latency.take('call')
    return space
  }

  app.post<Params>('/toolbox/:id/files/bulk-upload', async ({ params, headers, body }) => {
    const space = await spaceOf(params)
    for (const { path, content } of await toUploads(headers['content-type'], body))
      await files.write(space, path, content)
    return {}
  })

  app.post<Params>('/toolbox/:id/files/bulk-download', async ({ params, body }, reply) => {
    const { paths } = parse(z.object({ paths: z.array(z.string()).min(1) }), body)
    const space = await spaceOf(params)
    const boundary = `emulator-${randomUUID()}`
    const parts: Buffer[] = []
    for (const path of paths) parts.push(...(await toPart(space, path, boundary)))
    parts.push(Buffer.from(`--${boundary}--\r\n`))
    return reply.type(`multipart/form-data; boundary=${boundary}`).send(Buffer.concat(parts))
  })

  app.get<Params>('/toolbox/:id/files/download', async ({ params, query }, reply) => {
    const { path } = parse(onPath, query)
    return reply.type('application/octet-stream').send(await files.read(await spaceOf(params), path))
  })

  app.get<Params>('/toolbox/:id/files', async ({ params, query }) => {
    const { path, depth } = parse(listQuery, query)
    return files.list(await spaceOf(params), path, depth)
  })

  app.get<Params>('/toolbox/:id/files/info', async ({ params, query }) => {
    const { path } = parse(onPath, query)
    return files.info(await spaceOf(params), path)
  })

  app.delete<Params>('/toolbox/:id/files', async ({ params, query }, reply) => {
    const { path, recursive } = parse(removeQuery, query)
    await files.remove(await spaceOf(params), path, recursive)
    return reply.code(204).send()
  })

  app.post<Params>('/toolbox/:id/files/folder', async ({ params, query }, reply) => {
    const { path, mode } = parse(folderQuery, query)
    await files.makeFolder(await spaceOf(params), path, mode)
    return reply.code(201).send()
  })
}

interface Upload {
  readonly path: string
  readonly content: Buffer
}

/** `files[n].path` with `files[n].file`. */
async function toUploads(contentType: string | undefined, body: unknown): Promise<readonly Upload[]> {
  if (contentType === undefined || !Buffer.isBuffer(body)) throw refused(400, 'send the files as multipart/form-data')
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw refused(400, 'the multipart body cannot be read')
  }
  const uploads: Upload[] = []
  for (const [field, value] of form) {
    const [, number] = /^files\[(\d+)\]\.file$/.exec(field) ?? []
    if (number === undefined || typeof value === 'string') continue
    const path = form.get(`files[${number}].path`)
    if (typeof path !== 'string') throw refused(400, `files[${number}].path is missing`)
    uploads.push({ path, content: Buffer.from(await value.arrayBuffer()) })
  }
  return uploads
}

/** A file, or the reason why there is none, under the name that was asked for. */
async function toPart(space: Space, path: string, boundary: string): Promise<readonly Buffer[]> {
  const head = (field: string, type: string, bytes: number) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${path.replace(/["\r\n]/g, encodeURIComponent)}"\r\n` +
        `Content-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`,
    )
  const end = Buffer.from('\r\n')
  try {
    const content = await files.read(space, path)
    return [head('file', 'application/octet-stream', content.length), content, end]
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const told = Buffer.from(JSON.stringify({ message: error.message, statusCode: toStatus(error) }))
    return [head('error', 'application/json', told.length), told, end]
  }
}
