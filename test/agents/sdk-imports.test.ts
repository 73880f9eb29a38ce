/** The SDKs of models' providers are heavy: each is known to one file, which loads it when it is first used. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readSources, repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('SDKs of providers')

const SDKS = [
  { name: '@anthropic-ai/sdk', file: 'src/agents/claude/sdk.ts' },
  { name: 'openai', file: 'src/agents/openai/sdk.ts' },
  { name: '@modelcontextprotocol/sdk', file: 'src/agents/mcp/sdk.ts' },
] as const

const isOf = (name: string, to: string) => to === name || to.startsWith(`${name}/`)

for (const { name, file } of SDKS)
  test(`${name} is imported by ${file} alone, and there only when it is called`, () => {
    const importers = readSources('src', 'actors').filter(({ imports }) => imports.some(({ to }) => isOf(name, to)))
    assert.equal(
      importers.map(({ path }) => path),
      [file],
    )
    const text = readFileSync(join(repository, file), 'utf8')
    const eager = [...text.matchAll(/^(import|export)\s+(?!type\b)[^'";=()]*'([^']+)'/gm)]
    assert.equal(
      eager.map(([, , to = '']) => to).filter(to => isOf(name, to)),
      [],
    )
    assert.match(text, new RegExp(`await import\\('${name}`))
  })

test.run()
