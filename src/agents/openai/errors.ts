import { TroupeError } from '../../errors.ts'

/** Told apart by its code: some of these may pass. */
export function responseFailed(url: string, code: string, words: string): TroupeError {
  return new TroupeError({
    tag: 'chat-refused',
    address: url,
    message: `${url} began a response and gave it up (${code}): ${words}`,
    details: { code, words },
  })
}
