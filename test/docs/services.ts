/** What pages need that is no part of a machine: stand-ins on loopback, which speak over the real wire. */
import { join } from 'node:path'
import { startEmulator } from '../../src/emulator/index.ts'
import { claudeStep } from '../agents/claude/messages.ts'
import { startSseServer } from '../agents/sdk/sse-server.ts'
import { startPlatformServer } from '../platform/support/platform-server.ts'
import { startStandIn } from '../runtimes/docker/engine-stand-in.ts'
import { imageOf } from '../runtimes/docker/stand-in-images.ts'
import { startFakeChatServer } from '../support/fake-chat-server.ts'
import { startFakeTrainingService } from '../support/fake-training-service.ts'
import type { Place } from './place.ts'

export const SERVICES = ['daytona', 'docker', 'platform', 'training', 'claude', 'package'] as const
/** `package` is the page's place, and started with it. */
export type Service = (typeof SERVICES)[number]

export function isService(name: string): name is Service {
  return SERVICES.some(each => each === name)
}

export interface Running {
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

const SPEED = 100

export async function startService(service: Exclude<Service, 'package'>, place: Place): Promise<Running> {
  switch (service) {
    case 'daytona':
      return startDaytona(place)
    case 'docker':
      return startDocker(place)
    case 'platform':
      return startPlatform()
    case 'training':
      return startTraining()
    case 'claude':
      return startClaude()
  }
}

async function startDaytona({ directory }: Place): Promise<Running> {
  const emulator = await startEmulator({ speed: SPEED, seed: 1, directory })
  return {
    variables: { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey },
    close: () => emulator.close(),
  }
}

/** An engine whose registry has the images that pages name. */
async function startDocker({ directory }: Place): Promise<Running> {
  const standIn = await startStandIn('no-fixture')
  const serve = (file: string) =>
    imageOf('troupe', 'serve', join(directory, file), '--host', '0.0.0.0', '--port', '8765', '--insecure')
  // Containers are processes in directories that no sandbox's user can pass through: what is served needs no workspace.
  standIn.images.set('troupe-calc:latest', serve('environments/arith/env.ts'))
  return { variables: { DOCKER_HOST: standIn.host }, close: () => standIn.close() }
}

/** HUD's tasksets and reports. */
async function startPlatform(): Promise<Running> {
  const { variables, close } = await startPlatformServer()
  return { variables, close }
}

/** HUD's catalogue of models, its training service and its gateway, whose model says little. */
async function startTraining(): Promise<Running> {
  const training = await startFakeTrainingService({ models: ['Qwen/Qwen3.5-4B'], key: 'key-of-a-stand-in' })
  const gateway = await startFakeChatServer([{ text: 'done' }])
  return {
    variables: {
      HUD_API_KEY: 'key-of-a-stand-in',
      HUD_API_URL: training.url,
      HUD_RL_URL: training.url,
      HUD_GATEWAY_URL: gateway.url.replace(/\/v1$/, ''),
      HUD_TELEMETRY_ENABLED: 'false',
    },
    close: async () => {
      await gateway.close()
      await training.close()
    },
  }
}

async function startClaude(): Promise<Running> {
  const server = await startSseServer([claudeStep({ text: 'done' })])
  return {
    variables: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key-of-a-stand-in' },
    close: () => server.close(),
  }
}
