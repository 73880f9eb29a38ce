export { makeBash } from './bash.ts'
export { editor } from './editor.ts'
export { nativeTools, toDefinitions } from './native.ts'
