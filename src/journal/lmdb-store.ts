import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Database, Key, RootDatabase } from 'lmdb'
import type { Clock } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import { isAlive, makeOwner, type Owner } from '../owner.ts'
import { checkElsewhere } from './check-elsewhere.ts'
import { decode, encode, type GroupKey, type RunKey } from './codec.ts'
import { journalDamaged, journalHeld, journalMissing, journalUnusable, journalVersion } from './errors.ts'
import { type Gate, openGate } from './gate.ts'
import { checkDescriptors, checkFile } from './lmdb-file.ts'

/** Required with the first journal: a program without one loads nothing native. */
type Lmdb = typeof import('lmdb')
const require = createRequire(import.meta.url)

/** Of the layout below. Another one is refused, never converted in silence. */
export const JOURNAL_VERSION = 2

/** Address space, not memory or disk: 200,000 runs of real size before lmdb has to map anew, with every thread waiting. */
const MAP_BYTES = 16 * 2 ** 30

const DATA_FILE = 'data.mdb'

export interface Store {
  readonly root: RootDatabase<Buffer, string>
  /** `version` and `owner`. */
  readonly meta: Database<Uint8Array, string>
  readonly jobs: Database<Uint8Array, string>
  /** Run id to its place. Written first and only once: the condition under which the rest of a run is written. */
  readonly runKeys: Database<Uint8Array, string>
  readonly headers: Database<Uint8Array, RunKey>
  readonly trajectories: Database<Uint8Array, RunKey>
  readonly groups: Database<Uint8Array, GroupKey>
  /** Versioned: the version is the group's state, so that lmdb itself decides who settles it. */
  readonly ledger: Database<Uint8Array, [jobId: string, groupId: string]>
  /** Absent in a journal that is only read and was last written before there were any. */
  readonly records: Database<Uint8Array, [jobId: string, key: string]> | undefined
}

/** A store, and what keeps its commits apart from others who open it. */
export interface GatedStore {
  readonly store: Store
  readonly gate: Gate
}

export type StoreRole = 'owner' | 'thread' | 'reader'

/**
 * Opens the databases and, as owner, takes the journal. Rejects with `journal-version`, `-held`, `-missing`, `-damaged`, `-unusable` or
 * `-busy`.
 */
export async function openStore(directory: string, role: StoreRole, clock: Clock): Promise<GatedStore> {
  const gate = openGateIn(directory, role, clock)
  const open = () => openUngated(directory, role, clock)
  try {
    // A thread opens what its process has open already, which changes nothing for anybody.
    return { store: role === 'thread' ? open() : await gate.alone(open), gate }
  } catch (error) {
    gate.close()
    throw error
  }
}

function openUngated(directory: string, role: StoreRole, clock: Clock): Store {
  const root = openRoot(directory, role)
  try {
    const store = openDatabases(root)
    if (store === undefined) throw journalMissing(directory)
    if (role === 'owner') takeOwnership(store, directory, clock)
    else checkVersion(store, directory)
    return store
  } catch (error) {
    void root.close()
    // The file is lmdb's, could be opened, and then lmdb did not find in it what it had put there.
    throw error instanceof TroupeError && error.tag !== 'record-damaged' ? error : journalDamaged(directory, error)
  }
}

/** The last to close the file spoils lmdb's locks, which nobody may be about to use. Where one holds them for long, this is not the last. */
export async function closeAlone({ root }: Store, gate: Gate): Promise<void> {
  const close = () => root.close()
  await gate.alone(close).catch((error: unknown) => {
    if (error instanceof TroupeError && error.tag === 'journal-busy') return close()
    throw error
  })
}

/** Gives the journal up. Another process may take it from now on. */
export function releaseOwnership(store: Store): void {
  store.meta.removeSync('owner')
}

function openGateIn(directory: string, role: StoreRole, clock: Clock): Gate {
  if (role !== 'owner' && !existsSync(join(directory, DATA_FILE))) throw journalMissing(directory)
  return orUnusable(directory, () => {
    checkDescriptors()
    if (role === 'owner') {
      mkdirSync(directory, { recursive: true })
      accessSync(directory, constants.W_OK | constants.X_OK)
    }
    return openGate(directory, clock)
  })
}

function openRoot(directory: string, role: StoreRole): RootDatabase<Buffer, string> {
  const file = join(directory, DATA_FILE)
  return orUnusable(directory, () => {
    // Before anything is opened here or written: what is not found now would be lost for good.
    const state = existsSync(file) ? checkFile(file, MAP_BYTES, role === 'owner') : 'empty'
    if (state === 'empty' && role !== 'owner') throw journalMissing(directory)
    if (state === 'short' && role !== 'thread') checkElsewhere(directory)
    return openFile(directory, role === 'reader')
  })
}

function orUnusable<Value>(directory: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof TroupeError) throw error
    throw journalUnusable(directory, error)
  }
}

function openFile(directory: string, readOnly: boolean): RootDatabase<Buffer, string> {
  const { open }: Lmdb = require('lmdb')
  return open({
    path: directory,
    // Said outright: lmdb takes a directory with a dot in its name for a file.
    noSubdir: false,
    encoding: 'binary',
    maxDbs: 12,
    mapSize: MAP_BYTES,
    // With it, a failed commit also rejects a promise that nobody holds, which ends the process. Commits are batched without it too.
    eventTurnBatching: false,
    readOnly,
  })
}

/** Throws where a database of the journal has not all its entries. May take the process down: see `check-elsewhere.ts`. */
export async function checkStore(directory: string): Promise<void> {
  const root = openFile(directory, true)
  checkEntries('its list of databases', root)
  const store = openDatabases(root)
  for (const [name, database] of Object.entries(store ?? {}))
    if (database !== undefined && name !== 'root') checkEntries(`its database ${name}`, database)
  await root.close()
}

/** Throws where a database holds another number of entries than lmdb has written down. */
function checkEntries(name: string, database: Pick<RootDatabase<unknown, Key>, 'getKeys' | 'getStats'>): void {
  const stats: unknown = database.getStats()
  const told = typeof stats === 'object' && stats !== null && 'entryCount' in stats ? stats.entryCount : undefined
  let found = 0
  for (const _ of database.getKeys()) found += 1
  if (found !== told) throw new Error(`${name} has ${found} of ${told} entries`)
}

function openDatabases(root: RootDatabase<Buffer, string>): Store | undefined {
  // A database that is not there comes back undefined when opened for reading only, whatever the types say.
  const openDatabase = <Key extends string | (string | number)[]>(
    name: string,
    useVersions = false,
  ): Database<Uint8Array, Key> => root.openDB<Uint8Array, Key>({ name, encoding: 'binary', useVersions })
  const store: Store = {
    root,
    meta: openDatabase('meta'),
    jobs: openDatabase('jobs'),
    runKeys: openDatabase('run-keys'),
    headers: openDatabase('headers'),
    trajectories: openDatabase('trajectories'),
    groups: openDatabase('groups'),
    ledger: openDatabase('ledger', true),
    records: openDatabase('records'),
  }
  const missing = Object.entries(store).filter(([name, database]) => name !== 'records' && database === undefined)
  return missing.length > 0 ? undefined : store
}

/** Whoever holds the journal, if its process lives. */
export function readHolder(store: Store): Owner | undefined {
  const owner = readOwner(store)
  return owner !== undefined && isAlive(owner) ? owner : undefined
}

/** One transaction, so that of two processes that start at once one gets the journal and the other is told who has it. */
function takeOwnership(store: Store, directory: string, clock: Clock): void {
  const refusal = store.meta.transactionSync(() => {
    const version = readVersion(store)
    if (version !== undefined && version !== JOURNAL_VERSION) return journalVersion(directory, version, JOURNAL_VERSION)
    const owner = readOwner(store)
    if (owner !== undefined && isAlive(owner)) return journalHeld(directory, owner)
    store.meta.putSync('version', encode('version', JOURNAL_VERSION))
    store.meta.putSync('owner', encode('owner', makeOwner(clock.wallTime())))
    return undefined
  })
  if (refusal !== undefined) throw refusal
}

function checkVersion(store: Store, directory: string): void {
  const version = readVersion(store)
  if (version !== JOURNAL_VERSION) throw journalVersion(directory, version ?? 'none', JOURNAL_VERSION)
}

function readVersion(store: Store): unknown {
  const bytes = store.meta.get('version')
  return bytes === undefined ? undefined : decode('version', bytes)
}

function readOwner(store: Store): Owner | undefined {
  const bytes = store.meta.get('owner')
  return bytes === undefined ? undefined : decode('owner', bytes)
}
