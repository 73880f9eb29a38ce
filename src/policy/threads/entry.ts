/** A policy's worker thread: one sampler or one trainer, which it makes at once, and the calls of its owner. */
import { parentPort, workerData } from 'node:worker_threads'
import { toErrorData } from '../../errors.ts'
import { makeJaxSampler } from '../jax/sampler.ts'
import { makeJaxTrainer } from '../jax/trainer.ts'
import type { PolicyTrainer, Sampler } from '../policy.ts'
import type { FromThread, SamplerCall, ThreadStart, ToThread, TrainerCall } from './messages.ts'
import { answerBuffers } from './transfer.ts'

const port = parentPort
if (port === null) throw new Error('this file is the program of a worker thread')

interface Served {
  handle(call: SamplerCall | TrainerCall, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

const start = workerData as ThreadStart
const serving: Promise<Served> =
  start.machine === 'sampler'
    ? makeJaxSampler(start.shape, start.options).then(serveSampler)
    : makeJaxTrainer(start.shape).then(serveTrainer)
// A call tells of a machine that could not be made.
serving.catch(() => {})

const underWay = new Map<number, AbortController>()
const tell = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)

port.on('message', (message: ToThread<SamplerCall | TrainerCall>) => {
  if (message.type === 'call') void answer(message.id, message.body)
  else if (message.type === 'cancel') underWay.get(message.id)?.abort()
  else void close()
})

async function answer(id: number, body: SamplerCall | TrainerCall): Promise<void> {
  const controller = new AbortController()
  underWay.set(id, controller)
  try {
    const value = await (await serving).handle(body, controller.signal)
    tell({ type: 'answer', id, value }, answerBuffers(value))
  } catch (error) {
    tell({ type: 'error', id, error: toErrorData(error) })
  } finally {
    underWay.delete(id)
  }
}

async function close(): Promise<void> {
  await serving.then(({ close: end }) => end()).catch(() => {}) // The thread ends either way.
  port?.close()
}

function serveSampler(sampler: Sampler): Served {
  return {
    async handle(call, signal) {
      if (call.call === 'sample') return sampler.sample(call.request, signal)
      if (call.call === 'load' && 'version' in call) return sampler.load(call.weights, call.version)
      throw new Error(`a sampler knows no ${call.call}`)
    },
    close: () => sampler.close(),
  }
}

function serveTrainer(trainer: PolicyTrainer): Served {
  return {
    async handle(call) {
      switch (call.call) {
        case 'load':
          if ('state' in call) return trainer.load(call.state)
          break
        case 'accumulate':
          return trainer.accumulate(call.data, call.loss)
        case 'logprobs':
          return trainer.logprobs(call.data)
        case 'step':
          return trainer.step(call.options)
        case 'state':
          return trainer.state()
      }
      throw new Error(`a trainer knows no ${call.call}`)
    },
    close: () => trainer.close(),
  }
}
