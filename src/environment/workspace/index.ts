export { type LocalWorkspaceHost, makeWorkspaceHost, type WorkspaceHostOptions } from './host.ts'
export type { WorkspaceSession } from './session.ts'
