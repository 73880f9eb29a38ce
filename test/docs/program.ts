import ts from 'typescript'
import type { Language } from './plan.ts'

/** What Node runs of a program: its types are taken out, not looked at; `snippets.test.ts` checks them. */
export function toProgram(language: Language, text: string): string {
  if (language !== 'ts') return text
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
  return ts.transpileModule(text, { compilerOptions }).outputText
}
