import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Scene } from '../end-to-end/scene.ts'
import { MARK_PREFIX, type Place } from './marks.ts'

/** Where a life ends: at a mark, or so long after it. */
export interface Point extends Place {
  readonly delayMs: number
}

export interface Life {
  /** How often each mark was told. */
  readonly marks: ReadonlyMap<string, number>
  readonly end: 'killed' | 'went on to its end' | 'ended'
}

const program = fileURLToPath(new URL('./training-process.js', import.meta.url))
/** A life takes some seconds of two cores; where others want them too, many more. */
const LIFE_DEADLINE_MS = 150_000

/** Runs the training of a scene until it ends, or until the point at which it is killed. Rejects where it ends otherwise. */
export function live(scene: Scene, point?: Point): Promise<Life> {
  const isExact = point?.delayMs === 0
  const argv = isExact ? [point.mark, String(point.occurrence)] : []
  const child = spawn(process.execPath, [program, scene.directory, ...argv], {
    cwd: scene.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: scene.temporary },
  })
  const marks = new Map<string, number>()
  const said: string[] = []
  const timers: NodeJS.Timeout[] = []
  let rest = ''
  let stderr = ''

  const killAfter = (delayMs: number) => timers.push(setTimeout(() => child.kill('SIGKILL'), delayMs))

  function receive(line: string): void {
    if (!line.startsWith(MARK_PREFIX)) {
      said.push(line)
      return
    }
    const mark = line.slice(MARK_PREFIX.length)
    const count = (marks.get(mark) ?? 0) + 1
    marks.set(mark, count)
    if (point !== undefined && !isExact && mark === point.mark && count === point.occurrence) killAfter(point.delayMs)
  }

  let isLate = false
  timers.push(
    setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, LIFE_DEADLINE_MS),
  )
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) receive(line)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      for (const timer of timers) clearTimeout(timer)
      const wasKilled = signal === 'SIGKILL' && point !== undefined && !isLate
      if (wasKilled) resolve({ marks, end: 'killed' })
      else if (code === 0) resolve({ marks, end: said.includes('resumed') ? 'went on to its end' : 'ended' })
      else reject(new Error(`the training ended with ${isLate ? 'its deadline' : (signal ?? code)}: ${stderr}`))
    })
  })
}
