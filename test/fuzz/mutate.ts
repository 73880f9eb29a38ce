import * as fc from 'fast-check'

const KINDS = ['set', 'insert', 'flip', 'cut', 'remove', 'repeat'] as const

interface Change {
  readonly kind: (typeof KINDS)[number]
  readonly at: number
  readonly byte: number
}

/** Bytes that have broken readers: ends of ranges, and what begins a length, an extension, a map. */
const INTERESTING = [0x00, 0x01, 0x7f, 0x80, 0x81, 0x91, 0xc1, 0xc6, 0xc9, 0xd4, 0xdb, 0xdd, 0xdf, 0xff]

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    at: fc.nat(),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(...INTERESTING)),
  }),
  { maxLength: 4 },
)

/** Valid bytes, a few of them changed. */
export function mutated(valid: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc.tuple(valid, changes).map(([bytes, each]) => each.reduce((changed, one) => change(changed, one), bytes))
}

/** A few changes drawn from a source of random numbers, for who keeps a corpus. */
export function mutate(bytes: Buffer, random: () => number): Buffer {
  let changed = bytes
  for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? 'set'
    const interesting = INTERESTING[Math.floor(random() * INTERESTING.length)] ?? 0
    const byte = random() < 0.5 ? interesting : Math.floor(random() * 256)
    changed = change(changed, { kind, at: Math.floor(random() * 2 ** 31), byte })
  }
  return changed
}

function change(bytes: Buffer, { kind, at, byte }: Change): Buffer {
  const place = at % (bytes.length + 1)
  const before = bytes.subarray(0, place)
  switch (kind) {
    case 'set':
      return Buffer.concat([before, Buffer.of(byte), bytes.subarray(place + 1)])
    case 'flip':
      return Buffer.concat([before, Buffer.of((bytes[place] ?? 0) ^ (1 << (byte % 8))), bytes.subarray(place + 1)])
    case 'insert':
      return Buffer.concat([before, Buffer.of(byte), bytes.subarray(place)])
    case 'cut':
      return before
    case 'remove':
      return Buffer.concat([before, bytes.subarray(place + 1 + (byte % 8))])
    case 'repeat':
      return Buffer.concat([
        before,
        ...Array.from({ length: byte % 16 }, () => bytes.subarray(place, place + 4)),
        bytes.subarray(place),
      ])
  }
}
