export { settle, VirtualClock } from '../../src/testing/virtual-clock.ts'
