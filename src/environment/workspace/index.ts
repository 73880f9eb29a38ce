export { makeWorkspaceHost, type WorkspaceHostOptions } from './host.ts'
