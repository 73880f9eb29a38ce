import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** 0xBEEFC0DE, little endian: the mark in a database's meta pages. */
const MAGIC = Buffer.of(0xde, 0xc0, 0xef, 0xbe)
/** A meta page begins with the page's own header, whose size differs between versions of lmdb, and then the mark. */
const HEAD_BYTES = 64
/** From the mark: the size of pages, and the number of the last page in use (`MDB_meta` in lmdb's mdb.c, 64 bits). */
const PAGE_SIZE_AT = 24
const LAST_PAGE_AT = 120
const META_BYTES = LAST_PAGE_AT + 8
const FILL_BYTES = 1024 * 1024
/** The file's, its lock's, the gate's, and what lmdb takes for its writes. */
const DESCRIPTORS = 7

/**
 * What must be known of lmdb's file before lmdb maps it. lmdb takes the whole process down when the file is something else, and the system
 * does when a page is looked at that the file no longer has. An empty file is a database that is still to be made. An owner of a file that
 * was cut off gets it filled up with zeros: a file may also be short because its last pages are free. Answers whether it was short, as lmdb
 * takes some pages of zeros for data that is not there. Throws what is wrong.
 */
export function checkFile(file: string, longestBytes: number, isOwner: boolean): 'whole' | 'short' | 'empty' {
  const descriptor = openSync(file, 'r')
  let missing = 0
  try {
    const { size } = fstatSync(descriptor)
    if (size === 0) return 'empty'
    missing = readExtent(descriptor, longestBytes) - size
  } finally {
    closeSync(descriptor)
  }
  if (missing <= 0) return 'whole'
  if (!isOwner) return 'short'
  // Appended, never written at a place: a live owner's pages are not touched whatever it writes meanwhile.
  for (let left = missing; left > 0; left -= FILL_BYTES) appendFileSync(file, Buffer.alloc(Math.min(left, FILL_BYTES)))
  return 'short'
}

/** Throws where there are too few descriptors left to open a database: lmdb takes the process down when it runs out of them half way. */
export function checkDescriptors(): void {
  const held: number[] = []
  try {
    while (held.length < DESCRIPTORS) held.push(openSync('/dev/null', 'r'))
  } finally {
    for (const descriptor of held) closeSync(descriptor)
  }
}

/** Bytes up to the end of the last page that any of the meta pages names. */
function readExtent(descriptor: number, longestBytes: number): number {
  const head = Buffer.alloc(HEAD_BYTES)
  const length = readSync(descriptor, head, 0, HEAD_BYTES, 0)
  const mark = head.subarray(0, length).indexOf(MAGIC)
  if (mark < 0) throw new Error('its data.mdb is no lmdb database')
  const pageBytes = readMeta(descriptor, mark)?.pageBytes ?? 0
  // lmdb keeps two of them, a page each, and a third in the middle of the first page where it syncs while it writes.
  const metas = [0, pageBytes / 2, pageBytes].map(offset => readMeta(descriptor, offset + mark))
  const extents = metas.flatMap(meta => (meta === undefined ? [] : [(meta.lastPage + 1) * pageBytes]))
  return Math.max(0, ...extents.filter(bytes => bytes <= longestBytes))
}

function readMeta(descriptor: number, offset: number) {
  const meta = Buffer.alloc(META_BYTES)
  if (readSync(descriptor, meta, 0, META_BYTES, offset) < META_BYTES || !meta.subarray(0, MAGIC.length).equals(MAGIC))
    return undefined
  return { pageBytes: meta.readUInt32LE(PAGE_SIZE_AT), lastPage: Number(meta.readBigUInt64LE(LAST_PAGE_AT)) }
}
