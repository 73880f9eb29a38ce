import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { refused } from './errors.ts'
import { parse } from './parse-body.ts'
import { openPort } from './ports.ts'
import type { SandboxRecord } from './sandbox.ts'
import type { Site } from './site.ts'
import { endCommand, HOME, type SessionCommand, textOf } from './space.ts'

const executeBody = z.object({
  command: z.string(),
  cwd: z.string().optional(),
  envs: z.record(z.string(), z.string()).optional(),
  timeout: z.number().min(0).optional(),
})
const openBody = z.object({ sessionId: z.string().min(1) })
const sessionBody = z.object({ command: z.string(), runAsync: z.boolean().optional(), async: z.boolean().optional() })

type InSession = { Params: { id: string; session: string } }
type OfCommand = { Params: { id: string; session: string; command: string } }

/** Commands and sessions in a sandbox. A command that serves an environment starts a real server and opens the port. */
export function addToolboxRoutes(app: FastifyInstance, site: Site): void {
  const { context } = site
  const { latency, timelines, servers } = context

  app.post<{ Params: { id: string } }>('/toolbox/:id/process/execute', async ({ params, body }) => {
    const record = requireStarted(site, params.id)
    const { command, cwd, envs, timeout } = parse(executeBody, body)
    await latency.take('exec')
    const timeoutMs = timeout === undefined || timeout === 0 ? undefined : timeout * 1000
    const { exitCode, stdout, stderr } = await record.space.exec({
      command,
      cwd,
      envs: { ...record.env, ...envs },
      timeoutMs,
    })
    return { exitCode, result: stdout + stderr }
  })

  app.post<{ Params: { id: string } }>('/toolbox/:id/process/session', async ({ params, body }, reply) => {
    const { id, space } = requireStarted(site, params.id)
    const { sessionId } = parse(openBody, body)
    await timelines.time(id, 'session', latency.take('session'))
    if (space.sessions.has(sessionId)) throw refused(409, 'session already exists')
    space.sessions.set(sessionId, new Map())
    return reply.code(201).send()
  })

  app.get<{ Params: { id: string } }>('/toolbox/:id/process/session', async ({ params }) => {
    const { sessions } = requireStarted(site, params.id).space
    return [...sessions].map(([sessionId, commands]) => ({
      sessionId,
      commands: [...commands.values()].map(toCommand),
    }))
  })

  app.get<InSession>('/toolbox/:id/process/session/:session', async ({ params }) => ({
    sessionId: params.session,
    commands: [...commandsOf(site, params).values()].map(toCommand),
  }))

  app.delete<InSession>('/toolbox/:id/process/session/:session', async ({ params }, reply) => {
    for (const command of commandsOf(site, params).values()) if (command.exitCode === undefined) command.kill()
    requireStarted(site, params.id).space.sessions.delete(params.session)
    return reply.code(204).send()
  })

  app.post<InSession>('/toolbox/:id/process/session/:session/exec', async ({ params, body }, reply) => {
    const record = requireStarted(site, params.id)
    const { command, runAsync, async: asked } = parse(sessionBody, body)
    commandsOf(site, params)
    await timelines.time(record.id, 'exec', latency.take('exec'))
    const served = servers.recognise(command)
    if (served !== undefined) {
      const noted = record.space.note(params.session, command)
      serveIn(record, noted, served)
      return reply.code(202).send({ cmdId: noted.id })
    }
    const { started, end } = await record.space.start(params.session, command)
    if (runAsync === true || asked === true) {
      context.background(end)
      return reply.code(202).send({ cmdId: started.id })
    }
    await end
    return {
      cmdId: started.id,
      exitCode: started.exitCode,
      output: textOf(started, 'stdout', 'stderr'),
      stdout: textOf(started, 'stdout'),
      stderr: textOf(started, 'stderr'),
    }
  })

  function serveIn(record: SandboxRecord, noted: SessionCommand, request: Parameters<typeof openPort>[1]): void {
    const say = (stream: 'stdout' | 'stderr', text: string) => {
      const chunk = { stream, bytes: Buffer.from(text) }
      noted.log.push(chunk)
      for (const follow of noted.followers) follow(chunk)
    }
    const port = openPort(record, request, context)
    const release = async () => {
      if (record.ports.get(request.port) !== port) return
      record.ports.delete(request.port)
      await (await port.opened).release(port.sessionIds)
    }
    noted.kill = () => {
      endCommand(noted, 137)
      context.background(release())
    }
    const told = port.opened.then(
      async served => {
        say('stdout', `HUD_SERVE_PORT=${request.port}\n`)
        await served.exited
        endCommand(noted, 1)
      },
      error => {
        say('stderr', `${error instanceof Error ? error.message : error}\n`)
        endCommand(noted, 1)
      },
    )
    told.catch(() => {}) // its end is noted above, whatever it was
  }

  app.get<OfCommand>('/toolbox/:id/process/session/:session/command/:command', async ({ params }) => {
    await latency.take('call')
    return toCommand(commandOf(site, params))
  })

  app.get<OfCommand>('/toolbox/:id/process/session/:session/command/:command/logs', async ({ params }) => {
    const command = commandOf(site, params)
    await latency.take('call')
    return {
      output: textOf(command, 'stdout', 'stderr'),
      stdout: textOf(command, 'stdout'),
      stderr: textOf(command, 'stderr'),
    }
  })

  for (const path of ['work-dir', 'user-home-dir'])
    app.get<{ Params: { id: string } }>(`/toolbox/:id/${path}`, async ({ params }) => {
      requireStarted(site, params.id)
      return { dir: HOME }
    })
}

/** Using a sandbox counts as its activity. Only one that has started can be used. */
export function requireStarted({ sandboxes, context }: Site, id: string): SandboxRecord {
  const record = sandboxes.find(id)
  if (record.state !== 'started') throw refused(400, `Sandbox is not started (it is ${record.state})`)
  record.lastActivityAt = context.wall.wallTime()
  return record
}

function commandsOf(site: Site, { id, session }: InSession['Params']): Map<string, SessionCommand> {
  const commands = requireStarted(site, id).space.sessions.get(session)
  if (commands === undefined) throw refused(404, `session ${session} not found`)
  return commands
}

export function commandOf(site: Site, params: OfCommand['Params']): SessionCommand {
  const command = commandsOf(site, params).get(params.command)
  if (command === undefined) throw refused(404, `command ${params.command} not found`)
  return command
}

const toCommand = ({ id, command, exitCode }: SessionCommand) => ({
  id,
  command,
  ...(exitCode === undefined ? {} : { exitCode }),
})
