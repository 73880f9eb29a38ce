export { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
export { FAULT_KINDS, type Fault, type FaultKind, parseFault } from './faults.ts'
export type { SandboxTimeline, TimedOperation, TimelineStep } from './timeline.ts'
