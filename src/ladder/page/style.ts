import { AXIS, GRID, INK, PAPER, QUIET } from './chart.ts'

/** Colours of pictures that the page shows on its own ground: each is a variable there, so that dark is dark. */
const INLINE: Readonly<Record<string, string>> = {
  [INK]: 'var(--ink)',
  [QUIET]: 'var(--quiet)',
  [AXIS]: 'var(--axis)',
  [GRID]: 'var(--grid)',
  [PAPER]: 'var(--paper)',
  '#596575': 'var(--cold)',
  '#b5548a': 'var(--pool)',
  '#0072b2': 'var(--prewarm)',
  '#c2570c': 'var(--fork)',
  '#00805d': 'var(--published)',
}

/** A picture's colours as the page's own. What it says is left alone: within text, quotes are escaped. */
export function toInline(svg: string): string {
  return svg.replaceAll(/"(#[0-9a-f]{6})"/g, (_, colour: string) => `"${toPageColour(colour)}"`)
}

/** The mark beside the name of what is drawn in that colour. */
export function toSwatch(colour: string): string {
  return `<i style="background:${toPageColour(colour)}"></i>`
}

const toPageColour = (colour: string): string => INLINE[colour] ?? colour

export const STYLE = `
:root { color-scheme: light dark; --ink: #1f2933; --quiet: #56616e; --axis: #9aa5b1; --grid: #e4e8ec; --paper: #ffffff; --soft: #f6f7f9;
  --alarm: #b3261e; --alarm-paper: #fdecea; --cold: #596575; --pool: #b5548a; --prewarm: #0072b2; --fork: #c2570c; --published: #00805d }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --quiet: #a4aebb; --axis: #5d6875; --grid: #2b323b; --paper: #14181d; --soft: #1c2128;
  --alarm: #ff8a80; --alarm-paper: #3a1d1c; --cold: #aab5c2; --pool: #e493c2; --prewarm: #5ab0f0; --fork: #f2924f; --published: #45cfa2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
  -webkit-text-size-adjust: 100% }
main { max-width: 1120px; margin: 0 auto; padding: 56px 32px 96px }
h1 { margin: 0 0 12px; font-size: 15px; font-weight: 600; letter-spacing: .02em; color: var(--quiet) }
.headline { margin: 0 0 8px; max-width: 34em; font-size: clamp(22px, 3.4vw, 34px); line-height: 1.25; font-weight: 600; letter-spacing: -.012em; text-wrap: balance }
section + .headline { margin-top: 88px }
.headline span { display: block }
.headline .rest { margin-top: 10px; font-size: clamp(16px, 2vw, 19px); line-height: 1.45; font-weight: 400; letter-spacing: 0; color: var(--quiet); text-wrap: pretty }
h3 { margin: 24px 0 4px; font-size: 16px }
h2 { margin: 64px 0 4px; font-size: 21px; line-height: 1.3; font-weight: 600; letter-spacing: -.006em }
p { margin: 0 0 16px; max-width: 44em }
p.note, figcaption { color: var(--quiet); font-size: 14px; line-height: 1.5 }
figure { margin: 32px 0 0 }
svg { display: block; max-width: 100%; height: auto }
.narrow { display: none }
.smalls { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(232px, 100%), 1fr)); gap: 28px 20px }
figure.small { margin: 0 }
figure.small svg { width: 100%; max-width: 320px }
figure.small figcaption { margin-bottom: 4px }
figure.small strong { display: block; color: var(--ink); font-weight: 600 }
.key { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0 0 16px; padding: 0; list-style: none; font-size: 14px; color: var(--quiet) }
.key i, th i { display: inline-block; width: 10px; height: 10px; margin-right: 8px; border-radius: 2px }
.scroll { margin: 16px 0 8px; max-height: 85vh; overflow: auto; border: 1px solid var(--grid); border-radius: 8px }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--prewarm); outline-offset: 2px }
table { width: 100%; border-collapse: separate; border-spacing: 0; font-size: 14px; line-height: 1.4; font-variant-numeric: tabular-nums }
caption { position: sticky; left: 0; padding: 12px 11px; text-align: left; font-size: 14px; color: var(--quiet) }
th, td { padding: 7px 11px; text-align: right; white-space: nowrap; vertical-align: baseline }
thead th:first-child { left: 0; z-index: 2 }
thead th { position: sticky; top: 0; z-index: 1; background: var(--soft); border-bottom: 1px solid var(--grid); font-weight: 600; color: var(--quiet) }
th:first-child, .text { text-align: left }
tbody th { position: sticky; left: 0; background: var(--paper); font-weight: 600 }
tbody tr.first > * { border-top: 1px solid var(--grid) }
tbody tr:first-child > * { border-top: 0 }
tbody tr:hover > * { background: var(--soft) }
abbr { text-decoration: none; cursor: help }
.margin, .few { color: var(--quiet); font-size: 12.5px }
.few { display: block; font-size: 11.5px }
.alarm { color: var(--alarm) }
.banner { margin: 0 0 32px; padding: 14px 18px; border-left: 4px solid var(--alarm); border-radius: 4px; background: var(--alarm-paper) }
.banner p { margin: 0; overflow-wrap: anywhere }
.fine { color: var(--quiet) }
pre { margin: 12px 0 20px; padding: 16px 18px; overflow-x: auto; border-radius: 8px; background: var(--soft); font: 13.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; user-select: all }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 24px; margin: 12px 0 32px; font-size: 14px }
dt { color: var(--quiet) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
summary { margin-top: 24px; cursor: pointer; font-weight: 600 }
footer { margin-top: 72px; color: var(--quiet); font-size: 13px }
@media (max-width: 700px) {
  main { padding: 28px 16px 64px }
  h2 { margin-top: 48px }
  .wide { display: none }
  .narrow { display: block }
  .narrow svg { width: 100%; margin-bottom: 12px }
  dl { grid-template-columns: 1fr; gap: 0 }
  dd { margin-bottom: 10px }
}
@media print { .scroll { max-height: none; overflow: visible } }
`
