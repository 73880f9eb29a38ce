import type { Cell, Level, Sample } from '../../src/ladder/level.ts'

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
    cell: { strategy: 'cold', work: 'infra', width: 8, ...cell },
    repetition: 1,
    samples: [],
    failures: [],
    wallMs: 3_000,
    fillMs: 0,
    fillCpuMs: 0,
    cpuMs: 80,
    peakRssBytes: 64 * 2 ** 20,
    restRssBytes: 60 * 2 ** 20,
    errors: {},
    held: [],
    loopP99Ms: 1,
    loopMaxMs: 2,
    leaked: 0,
    emulatorCpuMs: 40,
    ...given,
  }
}
