import ts from 'typescript'
import { constantOf } from './scope.mjs'

/** The text that an expression makes, for a reader: what is filled in stands in ‹these›. `bound` are arguments that are known. */
export function say(node, bound) {
  const inner = each => say(each, bound)
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node)) return inner(node.expression)
  if (ts.isTemplateExpression(node))
    return (
      node.head.text + node.templateSpans.map(({ expression, literal }) => inner(expression) + literal.text).join('')
    )
  if (ts.isConditionalExpression(node)) return choose(inner(node.whenTrue), inner(node.whenFalse))
  if (ts.isBinaryExpression(node)) return sayBinary(node, inner)
  if (ts.isIdentifier(node)) return sayName(node, bound)
  if (ts.isPropertyAccessExpression(node)) return named(node.name.text === 'message' ? node.expression : node.name)
  if (ts.isCallExpression(node)) return sayCall(node, inner)
  return named(node)
}

/** One of two texts: both where both say something of their own. */
function choose(one, other) {
  if (one === other || other === '') return one
  if (one === '') return other
  return `${one} / ${other}`
}

function sayBinary({ left, operatorToken, right }, inner) {
  if (operatorToken.kind === ts.SyntaxKind.PlusToken) return inner(left) + inner(right)
  if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken || operatorToken.kind === ts.SyntaxKind.BarBarToken)
    return named(left)
  return named(left)
}

/** A constant that is made of words is these words; any other name stands for itself. */
function sayName(name, bound) {
  const given = bound.get(name.text)
  if (given !== undefined) return say(given, new Map())
  const constant = constantOf(name)
  return constant !== undefined && isText(constant) ? say(constant, bound) : named(name)
}

function isText(node) {
  if (ts.isParenthesizedExpression(node)) return isText(node.expression)
  if (ts.isConditionalExpression(node)) return isText(node.whenTrue) && isText(node.whenFalse)
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}

/** `[…].join()` is its elements, `hide(text)` the text, `list.join()` the list. */
function sayCall(node, inner) {
  const { expression } = node
  if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'join') {
    const joined = expression.expression
    return ts.isArrayLiteralExpression(joined) ? joined.elements.map(inner).join(' ') : named(joined)
  }
  if (expression.getText() === 'hide') return inner(node.arguments[0])
  return named(node)
}

/** The first name in it that says something. */
function named(node) {
  const text = ts.isIdentifier(node) ? node.text : firstName(node)
  return text === undefined ? '‹…›' : `‹${text}›`
}

const TELLS_NOTHING = new Set([
  'String',
  'Math',
  'Number',
  'JSON',
  'Date',
  'undefined',
  'toErrorData',
  'formatAddress',
  'toList',
  'list',
  'count',
  'name',
])

function firstName(node) {
  if (ts.isIdentifier(node)) return TELLS_NOTHING.has(node.text) ? undefined : node.text
  if (ts.isPropertyAccessExpression(node)) {
    const first = firstName(node.expression)
    return first ?? (ts.isCallExpression(node.parent) && node.parent.expression === node ? undefined : node.name.text)
  }
  return ts.forEachChild(node, firstName)
}
