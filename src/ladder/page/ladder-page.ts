import type { Receipt } from '../../receipts/receipt.ts'
import type { Work } from '../level.ts'
import { toBanner, toEnvironment } from './environment.ts'
import { toHeadline } from './headline.ts'
import { describeReady, drawReady } from './ready-chart.ts'
import { toSmalls, toStrategyKey } from './smalls.ts'
import { STYLE, toInline } from './style.ts'
import { toComparisonTable, toErrorsTable, toLevelsTable, toRepetitionsTable } from './tables.ts'
import { toViews, type Views } from './view.ts'
import { escapeText } from './words.ts'

const WIDE = { width: 1056, height: 500, alone: false }
const NARROW = { width: 360, height: 440, alone: false }
/** What each measures, as a heading. */
const TITLES: Readonly<Record<Work, string>> = {
  infra: 'Seconds until a sandbox is ready',
  rollout: 'Seconds until a rollout has its sandbox',
}

/**
 * A page of HTML that needs nothing else: no network, no script. Of one receipt, or of two where the second is what it is compared with. The same receipts give
 * the same bytes. Throws what is wrong with a receipt, as `toLadderRows` does.
 */
export function toLadderPage(receipts: readonly Receipt[]): string {
  const views = toViews(receipts)
  const title = views.other === undefined ? 'Concurrency ladder' : `Concurrency ladder, against the ${views.other.name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
${toBanner(views)}
${views.works.length === 0 ? '<p class="headline">No level was finished.</p>' : toBody(views)}
<h2>Where it was measured</h2>
${toEnvironment(views)}
<footer>Percentiles are of one repetition each, from an HDR histogram; figures are medians over repetitions, ± is the 95 % interval of their mean by Student’s t. A p95 of fewer than 20 samples, or a p99 of fewer than 100, is the largest of them, and is marked so.</footer>
</main>
</body>
</html>
`
}

function toBody(views: Views): string {
  return `${views.works.map(work => toWork(views, work)).join('\n')}
${views.other === undefined ? '' : `<h2>Against the ${escapeText(views.other.name)}</h2>\n${toComparisonTable(views)}`}
<h2>All levels</h2>
${toLevelsTable(views)}
<details><summary>Every repetition</summary>${toRepetitionsTable(views)}</details>
<h2>Provider errors</h2>
${toErrorsTable(views) || '<p class="note">None were told.</p>'}`
}

function toWork(views: Views, work: Work): string {
  const words = { title: TITLES[work], description: describeReady(views, work) }
  const pictures = [
    `<div class="wide">${toInline(drawReady(views, work, WIDE, { ...words, id: `${work}-wide` }))}</div>`,
    `<div class="narrow">${toInline(drawReady(views, work, NARROW, { ...words, id: `${work}-narrow` }))}${toStrategyKey(views, work)}</div>`,
  ]
  return `${toLead(toHeadline(views, work))}
<figure><figcaption><strong>${TITLES[work]}</strong>, by how many were asked for at once. ${toReading(views)}</figcaption>
${pictures.join('\n')}
</figure>
${toSmalls(views, work)}`
}

/** A space that no line is to end at. */
const UNIT = /(\d) (?=m?s\b|%|times\b)/g

/** The first sentence in large letters. */
function toLead(headline: string): string {
  const [first = '', ...rest] = headline.replaceAll(UNIT, '$1\u00a0').split(/(?<=\.) /)
  const more = rest.length === 0 ? '' : `<span class="rest">${escapeText(rest.join(' '))}</span>`
  return `<p class="headline"><span>${escapeText(first)}</span>${more}</p>`
}

function toReading({ own, other }: Views): string {
  const repeated = own.points.some(({ rows }) => rows.length > 1)
  const bars = repeated
    ? 'Lines are medians of the p50 over repetitions, bars the 95 % interval of their mean (one without a lower end goes on below)'
    : 'Lines are the p50 of one repetition'
  return `${bars}, dots the p95${other === undefined ? '' : `; dashed is the ${escapeText(other.name)}`}. Both scales are logarithmic.`
}
