import * as assert from 'uvu/assert'
import { syscallFilter } from '../../../src/environment/workspace/syscall-filter.ts'
import { suite } from '../../support/suite.ts'

const test = suite('the filter of system calls')

interface Call {
  readonly audit?: number
  readonly number: number
  readonly first?: number
  readonly second?: number
}

const X64 = 0xc000_003e
const ARM64 = 0xc000_00b7
const ALLOWED = 'allowed'

/** What a kernel would answer. */
function answer(program: Buffer, { audit = X64, number, first = 0, second = 0 }: Call): string {
  const data: Readonly<Record<number, number>> = { 0: number, 4: audit, 16: first, 24: second }
  let loaded = 0
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at)
    const value = program.readUInt32LE(at + 4)
    if (code === 0x06) return value === 0x7fff_0000 ? ALLOWED : `error ${value - 0x5_0000}`
    if (code === 0x20) {
      loaded = data[value] ?? Number.NaN
      continue
    }
    const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0
    at += 8 * program.readUInt8(at + (holds ? 2 : 3))
  }
  return 'fell off its end'
}

const x64 = syscallFilter('x64') ?? Buffer.alloc(0)
const arm64 = syscallFilter('arm64') ?? Buffer.alloc(0)

test('what programs do goes through', () => {
  for (const number of [0, 1, 2, 9, 57, 59, 101, 202, 257, 262, 302, 318, 334, 439])
    assert.is(answer(x64, { number }), ALLOWED)
  assert.is(answer(arm64, { audit: ARM64, number: 63 }), ALLOWED)
})

test('mounts, namespaces, keyrings and the kernel’s log are refused', () => {
  for (const number of [103, 165, 166, 155, 250, 248, 272, 308, 321, 429, 442])
    assert.is(answer(x64, { number }), 'error 1')
  for (const number of [116, 40, 39, 219, 97, 268]) assert.is(answer(arm64, { audit: ARM64, number }), 'error 1')
})

test('clone makes processes and threads, and no namespaces; clone3, whose flags cannot be seen, is not there', () => {
  for (const first of [17, 0x003d_0f00]) assert.is(answer(x64, { number: 56, first }), ALLOWED)
  for (const first of [0x1000_0011, 0x0002_0011, 0x4000_0011, 0x7e02_0011])
    assert.is(answer(x64, { number: 56, first }), 'error 1')
  assert.is(answer(x64, { number: 435 }), 'error 38')
})

test('a terminal takes sizes and modes, and no input from the side', () => {
  for (const second of [0x5401, 0x5413, 0x541b]) assert.is(answer(x64, { number: 16, second }), ALLOWED)
  for (const second of [0x5412, 0x541c]) assert.is(answer(x64, { number: 16, second }), 'error 1')
})

test('sockets are of the usual families', () => {
  for (const first of [1, 2, 10, 16]) assert.is(answer(x64, { number: 41, first }), ALLOWED)
  for (const first of [17, 31, 38, 40, 44]) assert.is(answer(x64, { number: 41, first }), 'error 97')
})

test('there is no other way to the same calls', () => {
  assert.is(answer(x64, { number: 165 + 0x4000_0000 }), 'error 38')
  assert.is(answer(x64, { audit: 0x4000_0003, number: 21 }), 'error 38')
  assert.is(answer(arm64, { audit: X64, number: 165 }), 'error 38')
})

test('a machine whose numbers are not known gets none', () => {
  assert.is(syscallFilter('riscv64'), undefined)
})

test.run()
