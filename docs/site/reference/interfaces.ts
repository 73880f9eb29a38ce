/** Interfaces of the sources as tables: fields, types, and what their comments say. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export interface Field {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly meaning: string
}

export interface Described {
  /** The comment before it. */
  readonly meaning: string
  /** Its own; not those of what it extends. */
  readonly fields: readonly Field[]
}

/** Throws where the file has no such interface: it was renamed or moved. */
export function readInterface(repository: string, file: string, name: string): Described {
  const text = readFileSync(join(repository, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
  )
  if (found === undefined)
    throw new Error(`${file} has no interface ${name}: correct docs/site/reference/configuration.ts`)
  return { meaning: commentOf(found), fields: found.members.flatMap(member => toField(member, source)) }
}

function toField(member: ts.TypeElement, source: ts.SourceFile): readonly Field[] {
  if (!ts.isPropertySignature(member)) return []
  const type = member.type?.getText(source) ?? 'unknown'
  return [
    {
      name: member.name.getText(source),
      type: type
        .replaceAll(/\/\*\*[\s\S]*?\*\/\s*/g, '')
        .replaceAll(/\breadonly /g, '')
        .replaceAll(/\s+/g, ' '),
      isOptional: member.questionToken !== undefined,
      meaning: commentOf(member),
    },
  ]
}

function commentOf(node: ts.Node): string {
  const comment = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)?.comment
  return (typeof comment === 'string' ? comment : (ts.getTextOfJSDocComment(comment) ?? '')).replaceAll(/\s+/g, ' ')
}
