import type { FastifyInstance, FastifyReply } from 'fastify'
import { parseChatBody } from './chat-body.ts'
import { type ChatCompletion, toCompletion, toSampleRequest } from './chat-completion.ts'
import type { Service } from './service.ts'

/** OpenAI's surface: completions, and the list of models that clients look into. */
export function addChatRoutes(app: FastifyInstance, service: Service): void {
  const { store, models, inFlight, format, limits, randomSeed } = service

  app.get('/v1/models', async () => ({
    object: 'list',
    data: store.models().map(({ name, createdAt }) => ({
      id: name,
      object: 'model',
      created: Math.floor(createdAt / 1000),
      owned_by: 'troupe',
    })),
  }))

  app.post('/v1/chat/completions', async (request, reply): Promise<ChatCompletion> => {
    const gone = watchCaller(reply)
    const chat = parseChatBody(request.body)
    const { id } = store.find(chat.model)
    const sampling = toSampleRequest(chat, format, limits, randomSeed)
    const result = await inFlight.run(gone, signal => models.use(id, model => model.sample(sampling, signal)))
    return toCompletion(chat, sampling, result, service)
  })
}

/** Aborts when the caller hangs up before it has its reply. */
function watchCaller(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}
