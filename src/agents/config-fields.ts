import type { Zod } from './schema.ts'

/** A value that travels to threads and to a service as it is. */
export const plainJson = (z: Zod) =>
  z.unknown().refine(value => z.json().safeParse(value).success, 'must be plain JSON data')

/** The base of a service. It stands in errors, so that nothing secret may be in it. */
export const plainUrl = (z: Zod) =>
  z
    .url({ protocol: /^https?$/ })
    .refine(hasNoSecrets, 'must have no user and no query; a key is named by apiKeyVariable')
    .transform(text => text.replace(/\/+$/, ''))

function hasNoSecrets(text: string): boolean {
  if (!URL.canParse(text)) return true // said already
  const { username, password, search } = new URL(text)
  return `${username}${password}${search}` === ''
}
