import { TroupeError } from '../errors.ts'

export function nothingTold(): TroupeError {
  return new TroupeError({
    tag: 'nothing-told',
    message:
      'the feed ended before it told anything: its engine may just have ended. Ask again, or look at what is kept with `troupe runs`.',
  })
}
