import type { Cell, Level, Sample } from '../../../bench/daytona/level.ts'

export function makeSample(usableMs: number, given: Partial<Sample> = {}): Sample {
  return {
    sandbox: 'one',
    askedAtMs: 1_000,
    stages: { lease: usableMs - 10, hello: usableMs },
    usableMs,
    kind: 'cold',
    ...given,
  }
}

export function makeLevel(cell: Partial<Cell>, given: Partial<Level> = {}): Level {
  return {
    cell: { mode: 'cold', width: 8, transport: 'auto', ...cell },
    repetition: 1,
    samples: [],
    failures: [],
    wallMs: 3_000,
    fillMs: 0,
    cpuMs: 80,
    peakRssBytes: 64 * 2 ** 20,
    loopP99Ms: 1,
    loopMaxMs: 2,
    leaked: 0,
    emulatorCpuMs: 40,
    emulatorCreated: 8,
    added: [],
    ...given,
  }
}
