/** What a name in one source file stands for, as far as its text tells. */
import ts from 'typescript'

/** The function that a node is in, where it has one. */
export function functionAround(node) {
  let at = node.parent
  while (at !== undefined && !ts.isFunctionDeclaration(at) && !ts.isArrowFunction(at) && !ts.isFunctionExpression(at))
    at = at.parent
  return at
}

/** The parameter of the function around that has this name. */
export function parameterOf(name) {
  return functionAround(name)?.parameters.find(each => ts.isIdentifier(each.name) && each.name.text === name.text)
}

/** What the constant of that name begins as, in the function around or in the file. */
export function constantOf(name) {
  if (!ts.isIdentifier(name)) return undefined
  const around = functionAround(name)
  return (around && declared(around, name.text)) ?? declared(name.getSourceFile(), name.text)
}

/** Anywhere in a function, but in a file only at the top: names within other functions are theirs. */
function declared(place, name) {
  let found
  const visit = node => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.name.text === name)
      found ??= node.initializer
    if (found === undefined && !(ts.isSourceFile(place) && ts.isFunctionLike(node))) ts.forEachChild(node, visit)
  }
  ts.forEachChild(place, visit)
  return found
}

/** Every call of a function that has a name, in its own file. */
export function callsOf(called) {
  const name = called?.name ?? (called && ts.isVariableDeclaration(called.parent) ? called.parent.name : undefined)
  if (name === undefined) return []
  const found = []
  const visit = node => {
    if (ts.isCallExpression(node) && node.expression.getText() === name.text) found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(called.getSourceFile())
  return found
}

/** `'run' | 'job'` as a list. */
export function literalsOf(type) {
  if (type === undefined) return []
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(literalsOf)
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : []
}

/** Whether only its own file can call it. */
export function isOwn(called) {
  const statement = ts.isFunctionDeclaration(called) ? called : called.parent?.parent?.parent
  return !statement?.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}
