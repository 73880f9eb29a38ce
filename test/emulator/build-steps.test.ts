import * as assert from 'uvu/assert'
import { findProblem, toSteps } from '../../src/emulator/build-steps.ts'
import { suite } from '../support/suite.ts'

const test = suite('emulator builds')

const CONTEXTS = new Map([
  ['one', ['package.json']],
  ['two', ['src', 'src/a.ts', 'src/deep', 'src/deep/b.ts']],
])

function problemOf(lines: readonly string[], contextHashes: readonly string[] = [...CONTEXTS.keys()]) {
  const dockerfileContent = ['FROM node:22', ...lines].join('\n')
  return findProblem({ dockerfileContent, contextHashes }, toSteps(dockerfileContent), hash => CONTEXTS.get(hash))
}

test('what is copied is looked for in what was pushed', () => {
  for (const line of [
    'COPY package.json /app/',
    'COPY ./package.json src /app/',
    'COPY src/deep/ /app',
    'COPY /src/a.ts /app',
    'COPY package*.json src/*.ts /app/',
    'COPY ["package.json", "/app"]',
    'COPY --chown=node --link . /app',
    'COPY --link --from=build /not/here /app',
    'COPY $WHAT /app',
    'ADD https://example.com/x /app',
  ])
    assert.is(problemOf([line]), undefined, line)
  for (const [line, path] of [
    ['COPY package.json gone.txt /app/', 'gone.txt'],
    ['COPY src/deep/c.ts /app', 'src/deep/c.ts'],
    ['COPY *.md /app/', '*.md'],
    ['ADD x.tar /app', 'x.tar'],
    ['COPY ["src/a", "/app"]', 'src/a'],
  ] as const)
    assert.equal(problemOf([line]), { step: line, reason: `${line}: ${path}: file not found in the build context` })
})

test('a context that was never pushed fails the build at its start', () => {
  assert.match(problemOf(['COPY . /app'], ['three'])?.reason ?? '', /three was never uploaded/)
  assert.match(problemOf(['COPY . /app'], [])?.reason ?? '', /file not found/)
})

test.run()
