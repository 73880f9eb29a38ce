import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a fresh process loads for one import, and what the import changes in it. */
export interface Loaded {
  /** Packages of which at least one file was loaded, sorted. */
  readonly packages: readonly string[]
  /** Files of ours. */
  readonly ownFiles: number
  /** Properties of `globalThis` that were not there before. */
  readonly globals: readonly string[]
  /** Events of `process` that have more listeners than before. */
  readonly handlers: readonly string[]
  /** What came out on stdout and stderr beside the report. */
  readonly output: string
}

/** The inspector tells of every script, whether it was imported or required. */
const PROGRAM = `
import { Session } from 'node:inspector'
const session = new Session()
session.connect()
const urls = []
session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url))
session.post('Debugger.enable')
const listeners = () => new Map(process.eventNames().map(name => [String(name), process.listenerCount(name)]))
const globals = new Set(Reflect.ownKeys(globalThis))
const before = listeners()
const from = urls.length
await import(process.argv[1])
const report = {
  urls: urls.slice(from),
  globals: Reflect.ownKeys(globalThis).filter(name => !globals.has(name)).map(String),
  handlers: [...listeners()].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name),
}
session.disconnect()
process.stdout.write('\\nREPORT ' + JSON.stringify(report))
`

/** Imports a module in a process of its own. */
export async function loadAlone(url: string): Promise<Loaded> {
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM, url], {
    maxBuffer: 16 * 1024 * 1024,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const [output = '', json = '{}'] = stdout.split('\nREPORT ')
  const report = JSON.parse(json) as { urls: string[]; globals: string[]; handlers: string[] }
  const files = report.urls.filter(each => each.startsWith('file:'))
  const packages = files.flatMap(each => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(each)?.[1] ?? [])
  return {
    packages: [...new Set(packages)].sort(),
    ownFiles: files.filter(each => !each.includes('/node_modules/')).length,
    globals: report.globals,
    handlers: report.handlers,
    output: output + stderr,
  }
}
