/** The runner of pages sees what is wrong with one. */
import * as assert from 'uvu/assert'
import { readPage } from '../../docs/site/page.ts'
import { suite } from '../support/suite.ts'
import { runPage } from './run-page.ts'

const test = suite('docs: running a page')
const page = (text: string) => runPage(readPage('page.md', `# Page\n\n${text}`))
const sh = (text: string) => `\`\`\`sh\n${text}\n\`\`\`\n\n`
/** What it says when it rejects. */
const failure = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'nothing was wrong with it',
    error => error.message,
  )
const shown = (text: string) => `\`\`\`text\n${text}\n\`\`\`\n\n`

test('each block begins where the one before ended, with its variables, in a directory that looks like a clone', async () => {
  const counts = await page(
    `${sh('export WHO="a b"\nmkdir -p deep\ncd deep')}${sh('echo "$WHO in $(basename "$PWD")"')}${shown('a b in deep')}${sh('ls ../environments/arith/env.ts')}`,
  )
  assert.equal(counts, { commands: 5, standIns: 0, programs: 0, compared: 1 })
})

test('a command that fails is told with its line and what it printed', async () => {
  assert.match(
    await failure(page(`${sh('true')}${sh('echo before\nfalse')}`)),
    /page\.md:7: it ended with 1, not 0:\s+echo before\s+false\s+before/,
  )
  await page(`<!-- exits: 3 -->\n${sh('exit 3')}`)
  assert.match(await failure(page(`<!-- exits: 3 -->\n${sh('true')}`)), /ended with 0, not 3/)
})

test('what was printed and is not what is shown is told', async () => {
  assert.match(
    await failure(page(`${sh('echo one')}${shown('two')}`)),
    /page\.md:7: this was printed by echo one\s+one\s+and the page shows\s+two/,
  )
  await page('```console\n$ echo one\none\n$ echo two >&2\ntwo\n```\n')
  assert.match(await failure(page('```console\n$ echo one\none\n$ echo two\nthree\n```\n')), /printed by echo two/)
})

test('files are written where the page is, and programs run behind what they are given', async () => {
  const counts = await page(
    `<!-- file: a.mjs -->\n\`\`\`js\nexport const a: number = 1\n\`\`\`\n\n<!-- append: rows.txt -->\n\`\`\`jsonl\n{"n":1}\n\`\`\`\n\n<!-- append: rows.txt -->\n\`\`\`jsonl\n{"n":2}\n\`\`\`\n\n${sh('wc -l < rows.txt')}${shown('2')}<!-- before: const b: number = 2 -->\n\`\`\`ts\nconsole.log(b + 1)\n\`\`\`\n\n${shown('3')}`,
  )
  assert.equal(counts, { commands: 1, standIns: 0, programs: 1, compared: 2 })
})

test('what runs in the background is there until the page ends, and its port is a free one', async () => {
  const server = `node -e 'require("node:http").createServer((_, r) => r.end("hello")).listen(8765, "127.0.0.1", () => console.log("listening"))' &`
  await page(
    `${sh(server)}${sh('node -e "fetch(\'http://127.0.0.1:8765\').then(r => r.text()).then(console.log)"')}${shown('hello')}`,
  )
  assert.match(
    await failure(
      page(
        `${sh("sh -c 'echo $$ > pid; echo begun; exit 5' &")}${sh('while kill -0 "$(cat pid)" 2>/dev/null; do :; done')}`,
      ),
    ),
    /it ended by itself, with 5/,
  )
})

test('a process that is left is told, and a stand-in is counted', async () => {
  assert.match(
    await failure(page(sh('(setsid sleep 60 > /dev/null 2>&1 < /dev/null &)'))),
    /this is left of it: process \d+: sleep 60/,
  )
  const counts = await page(`<!-- run: echo short -->\n${sh('echo long\nexit 7')}`)
  assert.equal(counts, { commands: 2, standIns: 2, programs: 0, compared: 0 })
})

test.run()
