/** What an environment's file imports: `troupe/environment`. Light on purpose: a host loads this and not the engine. */
export { z } from 'zod'
export {
  Environment,
  type EnvironmentHooks,
  type EnvironmentOptions,
  isEnvironment,
  type TeardownReason,
} from './environment.ts'
export * from './graders/index.ts'
export { loadEnvironment, loadEnvironments } from './load.ts'
export { type ServeEnvironmentOptions, serveEnvironment } from './serve-environment.ts'
export type { ServedEnvironment, ServedSession } from './served.ts'
export type {
  Prompt,
  RowOverrides,
  StructuredAnswer,
  TaskLife,
  TaskMaker,
  TemplateBody,
  TemplateContext,
  TemplateOptions,
  Verdict,
} from './template.ts'
export type { CleanRun, IsolationOptions, OpenWorkspace, Workspace, WorkspaceHost } from './workspace.ts'
