import { sleep } from '../clock.ts'
import { type Context, makeUuid } from './context.ts'
import { refused } from './errors.ts'
import { createFailureShare } from './figures.ts'
import { closePorts, openPort } from './ports.ts'
import { DEFAULT_RESOURCES, type Resources, type SandboxRecord, type SandboxState } from './sandbox.ts'
import { makeSpace } from './space.ts'
import { makeUsage } from './usage.ts'

export interface NewSandbox {
  readonly name?: string | undefined
  readonly snapshot: string
  readonly target: string
  readonly resources?: Resources
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly autoStopInterval?: number | undefined
  readonly autoDeleteInterval?: number | undefined
  readonly ttlMinutes?: number | undefined
  readonly warmPoolId?: string | undefined
  readonly parentId?: string | undefined
}

export interface SandboxCounts {
  created: number
  deleted: number
  failed: number
}

const MINUTE_MS = 60_000
const DEFAULT_AUTO_STOP_MINUTES = 15
const LOST_AFTER_MS = 8_000

export function makeSandboxes(context: Context) {
  const { clock, wall, latency, timelines, faults, events, ids, signal } = context
  const records = new Map<string, SandboxRecord>()
  const names = new Map<string, SandboxRecord>()
  const usage = makeUsage(context.quota)
  const counts: SandboxCounts = { created: 0, deleted: 0, failed: 0 }

  function find(idOrName: string): SandboxRecord {
    const found = records.get(idOrName) ?? names.get(idOrName)
    if (found === undefined) throw refused(404, `Sandbox with ID or name ${idOrName} not found`)
    return found
  }

  function set(record: SandboxRecord, state: SandboxState): void {
    const oldState = record.state
    record.state = state
    usage.move(record.resources, oldState, state)
    record.updatedAt = wall.wallTime()
    events.changed(record, oldState)
  }

  function insert(wanted: NewSandbox): SandboxRecord {
    const resources = wanted.resources ?? DEFAULT_RESOURCES
    usage.require(resources)
    const id = makeUuid(ids)
    requireFreeName(wanted.name)
    const now = wall.wallTime()
    const record: SandboxRecord = {
      id,
      name: wanted.name ?? id,
      snapshot: wanted.snapshot,
      target: wanted.target,
      resources,
      labels: wanted.labels ?? {},
      env: wanted.env ?? {},
      state: 'creating',
      errorReason: undefined,
      warmPoolId: wanted.warmPoolId,
      parentId: wanted.parentId,
      forking: false,
      autoStopInterval: wanted.autoStopInterval ?? DEFAULT_AUTO_STOP_MINUTES,
      autoDeleteInterval: wanted.autoDeleteInterval ?? -1,
      destroyAt: toDestroyAt(wanted.ttlMinutes ?? 0),
      createdAt: now,
      updatedAt: now,
      lastActivityAt: now,
      previewToken: ids.hex(16),
      space: makeSpace(id, context.workspaces),
      ports: new Map(),
      connections: new Set(),
    }
    records.set(id, record)
    names.set(record.name, record)
    usage.move(resources, undefined, record.state)
    timelines.begin(id, record.name)
    counts.created += 1
    events.created(record)
    return record
  }

  function requireFreeName(name: string | undefined): void {
    if (name !== undefined && names.has(name)) throw refused(409, `Sandbox with name ${name} already exists`)
  }

  const toDestroyAt = (minutes: number) => (minutes > 0 ? wall.wallTime() + minutes * MINUTE_MS : undefined)

  /** From `creating` to `started`, or to `error`. */
  async function bringUp(record: SandboxRecord): Promise<void> {
    const atOnce = await timelines.time(record.id, 'create', latency.take('create'))
    if (record.state !== 'creating') return
    if (faults.strikes('create-error') || context.random() < createFailureShare(atOnce))
      fail(record, 'No available runners')
    else startedNow(record)
  }

  function startedNow(record: SandboxRecord): void {
    set(record, 'started')
    if (faults.strikes('lost')) context.background(lose(record))
  }

  async function lose(record: SandboxRecord): Promise<void> {
    await sleep(clock, LOST_AFTER_MS * context.random(), signal)
    if (record.state === 'started') fail(record, 'The runner of this sandbox is gone')
  }

  function fail(record: SandboxRecord, reason: string): void {
    counts.failed += 1
    record.errorReason = reason
    halt(record)
    set(record, 'error')
  }

  function halt(record: SandboxRecord): void {
    record.space.killAll()
    for (const connection of record.connections) connection.destroy()
    record.connections.clear()
    context.background(closePorts(record))
  }

  async function destroy(record: SandboxRecord): Promise<void> {
    if (record.state === 'destroying') return
    set(record, 'destroying')
    halt(record)
    if (faults.strikes('stuck-deleting')) return
    await latency.take('delete')
    await record.space.close()
    records.delete(record.id)
    names.delete(record.name)
    counts.deleted += 1
    set(record, 'destroyed')
  }

  async function stop(record: SandboxRecord): Promise<void> {
    set(record, 'stopping')
    halt(record)
    await latency.take('stop')
    if (record.state !== 'stopping') return
    set(record, 'stopped')
    if (record.autoDeleteInterval === 0) await destroy(record)
  }

  return {
    records,
    counts,
    /** vCPUs, and GiB of memory and disk in use. */
    usage: usage.used,
    find,
    insert,
    bringUp,
    startedNow,
    destroy,
    toDestroyAt,
    /** A member of a pool becomes somebody's. */
    claim(record: SandboxRecord, wanted: NewSandbox): void {
      requireFreeName(wanted.name)
      record.warmPoolId = undefined
      names.delete(record.name)
      record.name = wanted.name ?? record.name
      names.set(record.name, record)
      timelines.rename(record.id, record.name)
      record.labels = wanted.labels ?? {}
      record.autoStopInterval = wanted.autoStopInterval ?? DEFAULT_AUTO_STOP_MINUTES
      record.autoDeleteInterval = wanted.autoDeleteInterval ?? -1
      record.destroyAt = toDestroyAt(wanted.ttlMinutes ?? 0)
      record.lastActivityAt = wall.wallTime()
    },
    stop(record: SandboxRecord): void {
      if (record.state !== 'started') throw refused(400, `Sandbox is not started (it is ${record.state})`)
      context.background(stop(record))
    },
    start(record: SandboxRecord): void {
      if (record.state === 'started' || record.state === 'starting') return
      if (record.state !== 'stopped') throw refused(400, `Sandbox is not in valid state (it is ${record.state})`)
      usage.require(record.resources)
      set(record, 'starting')
      const up = latency.take('start').then(() => {
        if (record.state === 'starting') startedNow(record)
      })
      context.background(up)
    },
    /** A child with a copy of the parent's files, serving what the parent served. */
    async fork(parent: SandboxRecord, name: string | undefined): Promise<SandboxRecord> {
      if (!isStarted(parent)) throw refused(400, 'Sandbox must be started to be forked')
      if (parent.forking) throw refused(409, 'Sandbox is already being forked')
      parent.forking = true
      try {
        const { snapshot, target, resources, labels, env, autoStopInterval, autoDeleteInterval } = parent
        const same = { snapshot, target, resources, labels, env, autoStopInterval, autoDeleteInterval }
        const child = insert({ ...same, name, parentId: parent.id })
        try {
          await Promise.all([timelines.time(child.id, 'fork', latency.take('fork')), copyFiles(parent, child)])
          // What served in one that is gone by now serves in no copy of it.
          if (!isStarted(parent)) throw refused(500, `the parent is ${parent.state}`)
        } catch (error) {
          fail(child, 'The parent could not be copied')
          throw error
        }
        // What is still starting in the parent goes on starting in the child.
        for (const { request } of parent.ports.values()) openPort(child, request, context, 'resume')
        if (child.state === 'creating') startedNow(child)
        return child
      } finally {
        parent.forking = false
      }
    },
    /** Ends everything without waiting for emulated time. */
    async close(): Promise<void> {
      for (const record of records.values()) halt(record)
      await Promise.all([...records.values()].map(record => closePorts(record)))
      records.clear()
      names.clear()
    },
  }
}

export type Sandboxes = ReturnType<typeof makeSandboxes>

const isStarted = ({ state }: SandboxRecord): boolean => state === 'started'

const MAX_COPY_BYTES = 256 * 1024 * 1024

async function copyFiles(parent: SandboxRecord, child: SandboxRecord): Promise<void> {
  if (!parent.space.used) return
  const packed = await parent.space.exec({ command: 'tar -cf - . | base64 -w0', maxOutputBytes: MAX_COPY_BYTES })
  const { exitCode, stderr } = await child.space.exec({
    command: 'base64 -d | tar -xf -',
    stdin: Buffer.from(packed.stdout),
  })
  if (exitCode !== 0) throw refused(500, `the files of the parent could not be copied: ${stderr}`)
}
