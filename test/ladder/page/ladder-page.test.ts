import { XMLParser, XMLValidator } from 'fast-xml-parser'
import * as assert from 'uvu/assert'
import { toLadderPage, toLadderSvg } from '../../../src/ladder/page/index.ts'
import { formatReceipt, PUBLISHED_LADDER_RECEIPT, type Receipt, readReceipt } from '../../../src/receipts/index.ts'
import { suite } from '../../support/suite.ts'
import { makeUpLadder } from './made-up.ts'

const test = suite('ladder: page')

const ladder = makeUpLadder()
/** Made once: drawing takes its time. */
const PAGE = toLadderPage([ladder])
const COMPARED = toLadderPage([ladder, PUBLISHED_LADDER_RECEIPT])
const withCells = (receipt: Receipt, cells: Readonly<Record<string, string>>, row = 0): Receipt => ({
  ...receipt,
  rows: receipt.rows.map((all, index) => (index === row ? { ...all, ...cells } : all)),
})
/** What a reader sees. */
const textOf = (html: string) =>
  html
    .replaceAll(/<style>[\s\S]*?<\/style>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/\s+/g, ' ')

test('the widest level is said first, and what failed and leaked in all of them', () => {
  assert.match(
    textOf(PAGE),
    /256 at once: cold 9\.\d s, prewarmed 0\.2\d s, 3\d times sooner\. 5,100 sandboxes in 60 levels: 0 failed, 0 leaked\./,
  )
})

test('nothing on the page comes from elsewhere, and there is no script', () => {
  for (const page of [PAGE, COMPARED]) {
    assert.equal(
      [...page.matchAll(/https?:\/\/[^"' <]*/g)]
        .map(([url]) => url)
        .filter(url => url !== 'http://www.w3.org/2000/svg' && url !== 'http://www.w3.org/1999/xlink'),
      [],
    )
    assert.not.match(page, /<script|<link|<img|<iframe|@import|\son\w+=|(?:src|href)=(?!"#)|url\((?!#)/i)
  }
})

const NASTY = `<script>alert("1")</script><img src=x onerror='1'>&\u0001\ud800{a}`

test('whatever a receipt holds, it is text', () => {
  const foreign = withCells(
    { ...ladder, about: { ...ladder.about, command: NASTY, [NASTY]: NASTY, complete: NASTY } },
    { mode: NASTY, errors: '<b>:1' },
  )
  const other = { ...foreign, about: { ...foreign.about, title: NASTY } }
  for (const text of [toLadderPage([foreign]), toLadderPage([ladder, other]), toLadderSvg([foreign, other])]) {
    assert.not.match(text, /<script|<img|<b>/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    assert.not.match(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Surrogate}/u)
    assert.ok(text.includes('&lt;script'))
  }
  assert.is(XMLValidator.validate(toLadderSvg([foreign, other])), true)
})

test('a colour that a receipt holds as text stays text', () => {
  assert.ok(toLadderPage([withCells(ladder, { mode: '#1f2933' })]).includes('#1f2933</th>'))
})

test('a receipt that is not complete says so, and why', () => {
  const page = (complete: string) => toLadderPage([makeUpLadder({ about: { complete } })])
  assert.not.match(page('true'), /INCOMPLETE/)
  assert.match(textOf(page('false: it was ended after cold at 8')), /INCOMPLETE\. it was ended after cold at 8/)
  const { complete, ...about } = ladder.about
  assert.is(complete, 'true')
  assert.match(textOf(toLadderPage([{ ...ladder, about }])), /INCOMPLETE\. The receipt does not say/)
})

test('failures and leaks stand out, and only they', () => {
  assert.not.match(PAGE, /class="alarm"/)
  const page = toLadderPage([withCells(ladder, { failed: '3', leaked: '7' })])
  assert.equal(
    [...page.matchAll(/<strong class="alarm">(\d+)</g)].map(([, count]) => count),
    ['3', '7'],
  )
  assert.match(textOf(page), /3 failed, 7 leaked\./)
})

test('percentiles of few samples say so', () => {
  const text = textOf(toLadderPage([makeUpLadder({ widths: [8, 32, 128] })]))
  assert.match(text, /the largest of 8/)
  assert.match(text, /the largest of 32/)
  assert.not.match(text, /the largest of 128/)
  assert.match(textOf(toLadderPage([makeUpLadder({ widths: [1] })])), /the only one/)
})

test('one repetition has no interval, and several have', () => {
  assert.not.match(toLadderPage([makeUpLadder({ repetitions: 1 })]), /class="margin"/)
  assert.match(textOf(PAGE), /9\.\d\d ± 0\.\d/)
})

test('errors of the provider are told by kind', () => {
  assert.match(textOf(PAGE), /cold 256 daytona-429 9 cold 256 create-failed 3/)
})

test('the command to make it again and the place where it was made are told', () => {
  const text = textOf(PAGE)
  assert.ok(
    text.includes(
      `troupe ladder --levels 1,8,32,128,256 --repetitions 3 --strategies cold,provider-pool,prewarm,fork --seed 1`,
    ),
  )
  assert.ok(text.includes('2 × Some CPU @ 2.60GHz, 8 GiB, Linux 6.1.0'))
})

test('against the published ladder each strategy has its ratio, at the widths of both', () => {
  const page = COMPARED
  const text = textOf(page)
  assert.match(
    text,
    /Against the published ladder at 256: cold 9\.9 s, here (1\.1 times sooner|the same within 5 %); its soonest, cold 9\.9 s, against prewarmed 0\.2\d s, 3\d times sooner\./,
  )
  for (const strategy of ['cold', 'provider’s pool', 'prewarmed', 'forked'])
    for (const [n, theirs] of [
      [8, '2\\.80'],
      [32, '3\\.27'],
      [128, '5\\.09'],
      [256, '9\\.90'],
    ])
      assert.match(text, new RegExp(`${strategy} ${n} [\\d.]+ ± [\\d.]+ cold ${theirs} ± [\\d.]+ [\\d.]+ `))
  assert.match(toLadderSvg([ladder, PUBLISHED_LADDER_RECEIPT]), /stroke-dasharray/)
  assert.match(toLadderSvg([ladder, PUBLISHED_LADDER_RECEIPT]), /cold, published ladder/)
})

test('rollouts show their own stages', () => {
  const text = textOf(toLadderPage([makeUpLadder({ work: 'rollout' })]))
  assert.match(text, /lease hello start agent grade/)
  assert.match(text, /5,100 rollouts in 60 levels/)
  assert.match(text, /Engine CPU per rollout/)
  assert.match(text, /Rollouts a second/)
  assert.not.match(textOf(PAGE), /agent grade|Rollouts a second/)
})

test('the published columns alone make a page, without what nobody measured', () => {
  const text = textOf(toLadderPage([PUBLISHED_LADDER_RECEIPT]))
  assert.match(text, /256 at once: cold 9\.9 s\. 1,272 sandboxes in 12 levels: 0 failed, leaks were not counted\./)
  assert.not.match(text, /Where the time goes|Where sandboxes came from|What it takes|CPU ms|leaked/)
})

test('a receipt makes the same page once it has been written and read', () => {
  const read = readReceipt(formatReceipt(ladder), 'ladder.csv')
  assert.is(toLadderPage([read]), PAGE)
  assert.is(toLadderSvg([read]), toLadderSvg([ladder]))
})

test('the picture has a title and a description, and is well-formed', () => {
  const svg = toLadderSvg([ladder])
  assert.is(XMLValidator.validate(svg), true)
  const { svg: root } = new XMLParser({ ignoreAttributes: false }).parse(svg)
  assert.is(root['@_role'], 'img')
  assert.is(root.title, 'How long until a sandbox is ready, by how many are asked for at once')
  assert.match(root.desc, /^cold: 1 at once 2\.\d s, .*forked: /)
})

test('no two pictures of a page share an id', () => {
  const ids = [...COMPARED.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
  assert.equal(ids, [...new Set(ids)])
})

test('a ladder without a level, and one in which nothing became ready, still have a page', () => {
  const empty = { ...ladder, rows: [], about: { ...ladder.about, complete: 'false: interrupted' } }
  assert.match(textOf(toLadderPage([empty])), /INCOMPLETE\. interrupted No level was finished\./)
  assert.match(toLadderSvg([empty]), /ended before its first level/)
  const text = '# kind: ladder\nn,mode,ok,failed,ready_p50_s,ready_p95_s\n8,cold,0,8,,\n'
  const page = textOf(toLadderPage([readReceipt(text, 'a.csv'), PUBLISHED_LADDER_RECEIPT]))
  assert.match(page, /Nothing became ready\./)
  assert.match(page, /8 failed/)
  const svg = toLadderSvg([readReceipt(text, 'a.csv')])
  assert.is(XMLValidator.validate(svg), true)
  assert.not.match(svg, /NaN|Infinity|undefined/)
})

test('odd figures are drawn without a fault: none, one width, next to nothing, very much', () => {
  const text = 'n,mode,ready_p50_s,ready_p95_s\n1,cold,0,0\n1,cold,0,1\n1,fork,90000,100000\n'
  const svg = toLadderSvg([readReceipt(text, 'a.csv')])
  assert.is(XMLValidator.validate(svg), true)
  assert.not.match(svg, /NaN|Infinity|undefined/)
})

test('what is wrong with a receipt is said by its name, row and column', () => {
  assert.throws(
    () => toLadderPage([ladder, withCells(PUBLISHED_LADDER_RECEIPT, { ok: 'many' })]),
    /published ladder: row \d+, column ok is "many"/,
  )
  assert.throws(() => toLadderPage([{ ...ladder, kind: 'bench' }]), /kind bench, and one of kind ladder/)
})

test.run()
