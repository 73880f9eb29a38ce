/** `npm run docs:reference` */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeReference } from './make.ts'

const repository = process.cwd()
for (const [path, text] of Object.entries(await makeReference(repository))) {
  mkdirSync(dirname(join(repository, path)), { recursive: true })
  writeFileSync(join(repository, path), text)
  console.log(`written: ${path}`)
}
