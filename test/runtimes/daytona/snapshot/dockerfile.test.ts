import * as assert from 'uvu/assert'
import { TroupeError } from '../../../../src/errors.ts'
import { toCommand } from '../../../../src/runtimes/daytona/snapshot/command.ts'
import { parseDockerfile } from '../../../../src/runtimes/daytona/snapshot/dockerfile.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('reading a Dockerfile')

const commandOf = (...lines: readonly string[]) =>
  toCommand(parseDockerfile(['FROM node:22', ...lines].join('\n'), 'Dockerfile').last)

test('the command is what a container would run, in the directory where it would', () => {
  const cases: readonly (readonly [readonly string[], string | undefined])[] = [
    [['WORKDIR /app', 'CMD ["troupe", "serve", "env.ts"]'], 'cd /app && exec troupe serve env.ts'],
    [['CMD ["a", "b c", "it\'s"]'], `exec a 'b c' 'it'\\''s'`],
    [['CMD troupe serve \\', '# a comment', '  env.ts --x "a  b"'], 'exec troupe serve env.ts --x "a  b"'],
    [['CMD make && serve'], '{ make && serve; }'],
    [['ENTRYPOINT ["tini", "--"]', 'CMD ["troupe", "serve"]'], 'exec troupe serve'],
    [['CMD ["/usr/bin/tini", "-g", "--", "troupe", "serve"]'], 'exec troupe serve'],
    [['ENTRYPOINT ["dumb-init"]', 'CMD troupe serve'], 'exec troupe serve'],
    [['ENTRYPOINT ["run", "-v"]', 'CMD ["fast"]'], 'exec run -v fast'],
    [['ENTRYPOINT ["run"]', 'CMD go now'], "exec run /bin/sh -c 'go now'"],
    [['ENTRYPOINT run it', 'CMD ["unheard"]'], 'exec run it'],
    [['ENV HOME_OF=/srv', 'WORKDIR $HOME_OF', 'WORKDIR sub', 'CMD ["x"]'], 'cd /srv/sub && exec x'],
    [['WORKDIR $UNKNOWN', 'CMD ["x"]'], 'cd "$UNKNOWN" && exec x'],
    [['CMD ["one"]', 'CMD ["two"]'], 'exec two'],
    [['WORKDIR /app'], undefined],
    [['CMD []'], undefined],
    [['ENTRYPOINT ["tini", "--"]'], undefined],
  ]
  for (const [lines, command] of cases) assert.is(commandOf(...lines), command, lines.join(' | '))
})

test('a last stage has what the stage has that it is built on, and nothing of the others', () => {
  const stages = ['FROM node:22 AS Base', 'WORKDIR /base', 'CMD ["inherited"]', 'FROM node:22', 'CMD ["other"]']
  const last = (...lines: readonly string[]) => toCommand(parseDockerfile([...stages, ...lines].join('\n'), 'x').last)
  assert.is(last('FROM base'), 'cd /base && exec inherited')
  assert.is(last('FROM --platform=linux/amd64 base AS out', 'ENTRYPOINT ["run"]'), 'cd /base && exec run')
  assert.is(last('FROM scratch'), undefined)
})

test('sources are what comes from the context, with their lines', () => {
  const { sources } = parseDockerfile(
    [
      '# syntax=docker/dockerfile:1',
      'ARG BASE=node:22',
      'FROM $BASE AS build',
      'COPY --chown=node:node package.json package-lock.json ./',
      'COPY ["with space", "/x"]',
      'COPY --link --from=build /a /b',
      'COPY <<EOF /c',
      'COPY not this',
      'EOF',
      'ADD https://example.com/d /d',
      'ADD local.tar /e',
      'copy one \\',
      '  # not this',
      '  two /f',
      'RUN <<EOF',
      'COPY nor this',
      'EOF',
    ].join('\n'),
    'Dockerfile',
  )
  assert.equal(
    sources.map(({ instruction, path, line }) => `${line} ${instruction} ${path}`),
    [
      '4 COPY package.json',
      '4 COPY package-lock.json',
      '5 COPY with space',
      '11 ADD local.tar',
      '12 COPY one',
      '12 COPY two',
    ],
  )
})

test('what is no Dockerfile is refused with its line', () => {
  for (const [text, line, says] of [
    ['FROM node:22\nFETCH everything\n', 2, /FETCH is no instruction/],
    ['# only this\n', 1, /no instruction/],
    ['ARG A=1\nRUN true\nFROM node:22\n', 2, /RUN comes before the first FROM/],
  ] as const)
    try {
      parseDockerfile(text, 'Dockerfile.hud')
      assert.unreachable(text)
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      assert.is(error.tag, 'dockerfile-invalid')
      assert.is(error.data.address, `Dockerfile.hud:${line}`)
      assert.match(error.message, says)
    }
})

test.run()
