import { fileURLToPath } from 'node:url'
import type { EmulatorSettings } from '../ports.ts'
import type { EmulatorCalls } from '../process/calls.ts'
import { type Child, startChild } from '../process/child.ts'

export const startEmulatorProcess = (settings: EmulatorSettings): Child<EmulatorCalls> =>
  startChild(fileURLToPath(new URL('./emulator-main.js', import.meta.url)), settings)
