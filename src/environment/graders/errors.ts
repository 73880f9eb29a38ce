/** What can be wrong with how grades are put together, and with the program that judges. Never what an agent did. */
import { TroupeError } from '../../errors.ts'

export function nothingToCombine(): TroupeError {
  return badGrade('there is nothing to combine: pass at least one part made by weigh()')
}

export function noPositiveWeight(): TroupeError {
  return badGrade('no part has a positive weight: penalties need something to be taken from')
}

export function badWeight(name: string, weight: number): TroupeError {
  return badGrade(`the weight of "${name}" is ${weight}: use a finite number, below 0 for a penalty`)
}

export function valueOutOfRange(name: string, value: number): TroupeError {
  return badGrade(`the value of "${name}" is ${value}: a part of a score is a number from 0 to 1`)
}

/** `output` is what the program said last. */
export function pytestUnusable(python: string, output: string): TroupeError {
  return new TroupeError({
    tag: 'pytest-unusable',
    message: `pytest does not run under ${python} (${output.trim().slice(-400)}): install it for that interpreter, on Debian with "apt-get install -y python3-pytest".`,
    details: { python },
  })
}

export function badTests(problem: string): TroupeError {
  return new TroupeError({ tag: 'bad-tests', message: `gradePytest: ${problem}.` })
}

/** The judge itself gave no verdict. It runs none of the agent's code, so no reward is given. */
export function graderFailed(reason: string, output: string, cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'grader-failed',
      message: `the grader gave no verdict: ${reason}. Its last output: ${output.trim().slice(-1_000) || '(none)'}`,
    },
    cause,
  )
}

function badGrade(problem: string): TroupeError {
  return new TroupeError({ tag: 'bad-grade', message: `${problem}.` })
}
