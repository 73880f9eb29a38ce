/**
 * For typedoc (`npm run docs:api`): entries are called what programs import them by, and every export must have a doc comment. typedoc's own check asks it of each
 * member, too, where a name and a type may say enough.
 */
import { Application, Converter, ReflectionKind } from 'typedoc'

const ENTRY = 'index'
/** Where types are shown that signatures name and no entry exports. */
const INTERNAL = '<internal>'

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const entry of entriesOf(project)) entry.name = entry.name === ENTRY ? 'troupe' : `troupe/${entry.name}`
  })
  app.on(Application.EVENT_VALIDATE_PROJECT, project => {
    for (const entry of entriesOf(project))
      for (const each of entry.children ?? [])
        if (each.name !== INTERNAL && !isTold(each)) app.logger.warn(`${entry.name}: ${each.name} has no doc comment`)
  })
}

function entriesOf(project) {
  return (project.children ?? []).filter(each => each.kindOf(ReflectionKind.Module))
}

/** A function's comment is its signatures'; an export that another entry has, too, is told there. */
function isTold(reflection) {
  if (reflection.isReference()) return true
  return reflection.hasComment() || (reflection.signatures ?? []).some(each => each.hasComment())
}
