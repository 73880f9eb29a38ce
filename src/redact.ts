import type { ErrorData } from './errors.ts'

/**
 * Text that leaves this process without the secrets that it knows of: values of variables whose names say so, what code was given and noted here, and what
 * looks like a credential wherever it comes from. Applied where text leaves, so that whoever words an error need not think of it.
 */

/** In the place of a secret. */
export const HIDDEN = '[hidden]'

/** What is shorter may well be a word. */
const SHORTEST = 10
const SHORTEST_SETTING = 16
const MOST_NOTED = 256
const DEEPEST = 20

const SECRET_NAME = /(^|_)(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$/i
/** HUD's own are taken for secrets, but for addresses. */
const HUD_NAME = /^HUD_(?!.*_URL$)/

/** Repetitions are bounded, so that no text makes a match take long. */
const CREDENTIALS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{8,4096}/gi, `$1 ${HIDDEN}`],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'<>]{1,512}@/gi, `$1${HIDDEN}@`],
  [/([?&;][\w-]{0,40}(?:token|key|secret|password|signature)=)[^&#\s"'<>]{1,4096}/gi, `$1${HIDDEN}`],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g, HIDDEN],
]

/** Longer-lived than a call, as the variables are: a secret that was given to code is one wherever its text turns up later. */
const noted = new Set<string>()

/** Takes down a secret that code was given. Too short a text is none. */
export function noteSecret(secret: string | undefined): void {
  const text = secret?.trim() ?? ''
  if (text.length < SHORTEST) return
  noted.delete(text)
  noted.add(text)
  const [oldest] = noted
  if (noted.size > MOST_NOTED && oldest !== undefined) noted.delete(oldest)
}

/** What was taken down: for a thread that says something for this one. */
export function notedSecrets(): ReadonlySet<string> {
  return noted
}

/** The same for the variables that something else is started with. */
export function noteSecretsOf(variables: Readonly<Record<string, string | undefined>>): void {
  for (const secret of secretsIn(variables)) noteSecret(secret)
}

/** Text for people: without known secrets, and without what looks like one. */
export function hide(text: string): string {
  return makeHider().hide(text)
}

/** Results, which must come out as they are: without known secrets alone. */
export function hideKnown(text: string): string {
  return makeHider().hideKnown(text)
}

/** The same by what is known when it is made: for much text at once, since to look for all that is a secret costs more than to look for it in a text. */
export interface Hider {
  hide(text: string): string
  hideKnown(text: string): string
  hideInValue(value: unknown): unknown
}

export function makeHider(): Hider {
  const forms = knownSecrets().flatMap(secret => [
    ...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]),
  ])
  const hideKnown = (text: string) =>
    forms.reduce((shown, form) => (shown.includes(form) ? shown.replaceAll(form, HIDDEN) : shown), text)
  const hide = (text: string) =>
    CREDENTIALS.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), hideKnown(text))
  return { hide, hideKnown, hideInValue: value => hideTextsIn(value, hide, 0) }
}

/** An error with every text of its own and of its causes hidden. */
export function hideInError(error: ErrorData): ErrorData {
  const { message, address, details, cause } = error
  return {
    ...error,
    message: hide(message),
    ...(address === undefined ? {} : { address: hide(address) }),
    ...(details === undefined ? {} : { details: hideInRecord(details, hide, 0) }),
    ...(cause === undefined ? {} : { cause: hideInError(cause) }),
  }
}

/** Plain data with the texts in it hidden; what is no plain data stays as it is. */
export function hideInValue(value: unknown): unknown {
  return makeHider().hideInValue(value)
}

function hideTextsIn(value: unknown, hideText: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return hideText(value)
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (Array.isArray(value)) return value.map(item => hideTextsIn(item, hideText, depth + 1))
  return Object.getPrototypeOf(value) === Object.prototype ? hideInRecord({ ...value }, hideText, depth) : value
}

function hideInRecord(
  record: Readonly<Record<string, unknown>>,
  hideText: (text: string) => string,
  depth: number,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, hideTextsIn(value, hideText, depth + 1)]),
  )
}

/** Longest first: one may be part of another. */
function knownSecrets(): readonly string[] {
  return [...new Set([...secretsIn(process.env), ...noted])].sort((one, other) => other.length - one.length)
}

function secretsIn(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const text = value?.trim() ?? ''
    const shortest = SECRET_NAME.test(name) ? SHORTEST : HUD_NAME.test(name) ? SHORTEST_SETTING : undefined
    return shortest === undefined || text.length < shortest ? [] : [text]
  })
}
