import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { say } from './say.mjs'
import { callsOf, constantOf, functionAround, isOwn, literalsOf, parameterOf } from './scope.mjs'

/**
 * Every error tag that the sources can give: `{ path, tag, says, again }`, a record for each place. What is read are object literals with a `tag`, wherever they
 * are: beside a string, the tag may be a choice of strings, a constant, a lookup, or what the callers of a function in the same file pass to it.
 */
export function readErrorTags(root, folders) {
  const files = folders.flatMap(folder => sourcesIn(root, folder))
  const shared = new Map(files.flatMap(({ source }) => exportedTexts(source)))
  const found = []
  for (const { path, source } of files)
    walk(source, node => {
      if (ts.isObjectLiteralExpression(node)) found.push(...tagsOf(node, shared).map(each => ({ path, ...each })))
    })
  // An error that was taken over, and given another tag, says what it said.
  const told = new Set(found.filter(({ says }) => says !== '').map(({ tag }) => tag))
  return found.filter(({ tag, says }) => says !== '' || !told.has(tag))
}

function sourcesIn(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /(?<!\.d)\.ts$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => ({ path: file.slice(root.length).replace(/^\//, ''), text: readFileSync(file, 'utf8') }))
    .filter(({ text }) => /\btag\b/.test(text))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .map(({ path, text }) => ({ path, source: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) }))
}

/** `export const TOKEN_REFUSED = 'token-refused'`: a tag that other files use by its name. */
function exportedTexts(source) {
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(
      ({ name, initializer }) => ts.isIdentifier(name) && initializer !== undefined && ts.isStringLiteral(initializer),
    )
    .map(({ name, initializer }) => [name.text, initializer.text])
}

function walk(node, visit) {
  visit(node)
  ts.forEachChild(node, child => walk(child, visit))
}

const KEBAB = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

function tagsOf(object, shared) {
  const tag = initialOf(object, 'tag')
  if (tag === undefined) return []
  // Some choose between kinds first, and put what they chose into one text.
  const text =
    initialOf(object, 'message') ?? initialOf(object, 'advice') ?? initialOf(object, 'next') ?? textBefore(object)
  const again = againOf(object)
  return resolve(tag, new Map(), shared)
    .filter(each => KEBAB.test(each.tag))
    .flatMap(each => (each.says === undefined && each.bound.size === 0 ? withCallers(each, object) : [each]))
    .map(each => ({ tag: each.tag, says: each.says ?? (text === undefined ? '' : say(text, each.bound)), again }))
}

/** Where a helper of the file makes the error, what each of its callers says. */
function withCallers(each, object) {
  const around = functionAround(object)
  const calls = around !== undefined && isOwn(around) ? callsOf(around) : []
  return calls.length === 0 ? [each] : calls.map(call => ({ ...each, bound: argumentsOf(call, around) }))
}

function argumentsOf(call, called) {
  return new Map(called.parameters.map((each, place) => [each.name.getText(), call.arguments[place]]))
}

/** `new RpcRefusal(code, text, { tag })`: what stands before it. */
function textBefore(object) {
  if (!ts.isNewExpression(object.parent)) return undefined
  const given = object.parent.arguments ?? []
  return given[given.indexOf(object) - 1]
}

function initialOf(object, name) {
  for (const property of object.properties) {
    if (property.name?.getText() !== name) continue
    if (ts.isPropertyAssignment(property)) return property.initializer
    if (ts.isShorthandPropertyAssignment(property)) return property.name
  }
  return undefined
}

/** `transient: true` is yes; where it is computed, or in a spread that is computed, it may be. */
function againOf(object) {
  const value = initialOf(object, 'transient')
  if (value !== undefined) return value.kind === ts.SyntaxKind.TrueKeyword ? 'yes' : 'may'
  const computed = object.properties.some(each => ts.isSpreadAssignment(each) && /\btransient\b/.test(each.getText()))
  return computed ? 'may' : '–'
}

/** What a tag's expression can be; `bound` are the arguments that its text has with it, `says` the text where it stands beside it. */
function resolve(node, bound, shared) {
  const same = inner => resolve(inner, bound, shared)
  if (ts.isStringLiteralLike(node)) return [{ tag: node.text, bound }]
  if (ts.isParenthesizedExpression(node)) return same(node.expression)
  if (ts.isConditionalExpression(node)) return [...same(node.whenTrue), ...same(node.whenFalse)]
  if (ts.isBinaryExpression(node)) return [...same(node.left), ...same(node.right)]
  if (ts.isTemplateExpression(node)) return spellOut(node, bound)
  if (ts.isElementAccessExpression(node)) return literalsIn(constantOf(node.expression)).map(tag => ({ tag, bound }))
  return ts.isIdentifier(node) ? resolveName(node, bound, shared) : []
}

function resolveName(name, bound, shared) {
  const parameter = parameterOf(name)
  if (parameter !== undefined)
    return callsOf(functionAround(name)).flatMap(call => {
      const given = argumentsOf(call, functionAround(name))
      const argument = given.get(name.text)
      return argument === undefined ? [] : resolve(argument, given, shared)
    })
  const constant = constantOf(name)
  if (constant !== undefined) return resolve(constant, bound, shared)
  if (shared.has(name.text)) return [{ tag: shared.get(name.text), bound }]
  return pairsIn(functionAround(name))
}

/** `unknown-${kind}`, of a parameter whose type lists what it can be. */
function spellOut({ head, templateSpans }, bound) {
  let texts = [head.text]
  for (const { expression, literal } of templateSpans) {
    const values = ts.isIdentifier(expression) ? literalsOf(parameterOf(expression)?.type) : []
    texts = texts.flatMap(text => values.map(value => `${text}${value}${literal.text}`))
  }
  return texts.map(tag => ({ tag, bound }))
}

function literalsIn(node) {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return []
  return node.properties
    .filter(each => ts.isPropertyAssignment(each) && ts.isStringLiteral(each.initializer))
    .map(each => each.initializer.text)
}

/** `const [tag, message] = KNOWN[code] ?? ['listen-failed', …]`: the pairs that stand in the function. */
function pairsIn(around) {
  const found = []
  if (around !== undefined)
    walk(around, node => {
      if (!ts.isArrayLiteralExpression(node) || node.elements.length !== 2) return
      const [tag, text] = node.elements
      if (ts.isStringLiteral(tag) && KEBAB.test(tag.text))
        found.push({ tag: tag.text, bound: new Map(), says: say(text, new Map()) })
    })
  return found
}
