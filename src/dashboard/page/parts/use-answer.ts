import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../requests.ts'

/** Asks anew whenever `key` changes, and passes over answers to earlier questions. */
export function useAnswer<Reply>(key: string, ask: () => Promise<Answer<Reply>>): Answer<Reply> {
  const [answer, setAnswer] = useState<Answer<Reply>>({ type: 'waiting' })
  useEffect(() => {
    let isWanted = true
    setAnswer({ type: 'waiting' })
    ask().then(found => {
      if (isWanted) setAnswer(found)
    })
    return () => {
      isWanted = false
    }
  }, [key])
  return answer
}
