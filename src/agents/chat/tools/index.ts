export { chatTools, TOOL_NAMES, type ToolName, toolsByName } from './catalog.ts'
export type { Tool, ToolContext, ToolResult } from './tool.ts'
