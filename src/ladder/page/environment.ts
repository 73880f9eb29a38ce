import type { View, Views } from './view.ts'
import { escapeText } from './words.ts'

/** Says that the receipt is not whole, and why; empty where it is. */
export function toBanner({ own }: Views): string {
  const { complete } = own.receipt.about
  if (complete === 'true') return ''
  const why =
    complete === undefined
      ? 'The receipt does not say whether all levels that were asked for are in it.'
      : complete.replace(/^false:?\s*/, '') || 'Not all levels that were asked for are in this receipt.'
  return `<div class="banner" role="note"><p><strong>INCOMPLETE.</strong> ${escapeText(why)}</p></div>`
}

/** The command that makes it again, and where it was made. */
export function toEnvironment(views: Views): string {
  const shown = views.other === undefined ? [views.own] : [views.own, views.other]
  return shown.map(view => toOne(view, shown.length > 1)).join('\n')
}

function toOne({ receipt, name }: View, named: boolean): string {
  const { command, ...about } = receipt.about
  const heading = named ? `<h3>${escapeText(name)}</h3>` : ''
  const again =
    command === undefined || command === ''
      ? ''
      : `<p class="note">The same again:</p><pre tabindex="0" aria-label="command"><code>${escapeText(command)}</code></pre>`
  const rows = Object.entries(about).map(([key, value]) => `<dt>${escapeText(key)}</dt><dd>${escapeText(value)}</dd>`)
  const table = rows.length === 0 ? '<p class="note">The receipt does not tell.</p>' : `<dl>${rows.join('\n')}</dl>`
  return `${heading}${again}${table}`
}
