export { DaytonaRuntime } from './daytona/daytona-runtime.ts'
export type { DaytonaRuntimeOptions, SandboxStages, Transport } from './daytona/options.ts'
export { DockerRuntime } from './docker/docker-runtime.ts'
export type { DockerRuntimeOptions } from './docker/options.ts'
export { LocalRuntime, type LocalRuntimeOptions } from './local.ts'
export { RoutedRuntime, type RoutedRuntimeOptions, type Routes } from './routed.ts'
export type {
  ConfiguredTask,
  LeaseKind,
  ProviderPool,
  ProvisionPlan,
  ProvisionRequest,
  Runtime,
  Sandbox,
  SandboxOrigin,
} from './runtime.ts'
export { SharedRuntime } from './shared.ts'
export { SubprocessRuntime, type SubprocessRuntimeOptions } from './subprocess.ts'
export { UrlRuntime, type UrlRuntimeOptions } from './url.ts'
