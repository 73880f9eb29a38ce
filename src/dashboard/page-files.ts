import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noSuchRoute } from './errors.ts'
import { DOCUMENT, STYLE } from './page/document.ts'

/** A file of the page. */
export interface PageFile {
  readonly type: string
  readonly body: string | Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'
const PAGE = fileURLToPath(new URL('./page/', import.meta.url))
const require = createRequire(import.meta.url)

/** By the name under which the page asks for them: the package, and which of its files is for browsers. */
const LIBRARIES: Readonly<Record<string, readonly [library: string, file: string]>> = {
  echarts: ['echarts', 'dist/echarts.esm.min.mjs'],
  preact: ['preact', 'dist/preact.mjs'],
  'preact-hooks': ['preact', 'hooks/dist/hooks.mjs'],
  'preact-jsx-runtime': ['preact', 'jsx-runtime/dist/jsxRuntime.mjs'],
}

/** Rejects with `no-such-route`. */
export async function readPageFile(path: string): Promise<PageFile> {
  if (path === '/') return { type: 'text/html; charset=utf-8', body: DOCUMENT }
  if (path === '/page/style.css') return { type: 'text/css; charset=utf-8', body: STYLE }
  const [, module] = /^\/page\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path) ?? []
  const [, library = ''] = /^\/lib\/([\w-]+)\.js$/.exec(path) ?? []
  const [name, file = ''] = (Object.hasOwn(LIBRARIES, library) ? LIBRARIES[library] : undefined) ?? []
  const found = module === undefined ? name && join(directoryOf(name), file) : join(PAGE, module)
  const body = found === undefined ? undefined : await readIfThere(found)
  if (body === undefined) throw noSuchRoute(path)
  return { type: SCRIPT, body }
}

/** Scripts and styles from this server alone; inline only the map of imports that the page has, by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `script-src 'self' ${hashesOf(DOCUMENT).join(' ')}`.trim(),
  "style-src 'self'",
  // Charts place their tooltips so.
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** For a ladder's page, which holds all that it needs. */
export const LADDER_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

function hashesOf(html: string): readonly string[] {
  return [...html.matchAll(/<script type="importmap">([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
}

/** Wherever the package was installed. Not every file of one may be asked for by its path, but what it is may. */
function directoryOf(name: string): string {
  return dirname(require.resolve(`${name}/package.json`))
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR'))
      return undefined
    throw error
  }
}
