/** What several views are made of: panels, tables, folds, figures. */
export const PARTS = `
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px 16px; display: grid; gap: 10px; grid-template-columns: minmax(0, 1fr); align-content: start; }
.panel > header { display: flex; gap: 4px 16px; align-items: baseline; flex-wrap: wrap; }
.panel > header > .controls { margin-left: auto; }
.panel > header p { color: var(--quiet); font-size: 13px; }
.controls { display: flex; gap: 6px 12px; flex-wrap: wrap; align-items: center; font-size: 13px; }
.controls label { display: inline-flex; gap: 6px; align-items: center; }
.columns { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
.empty { color: var(--quiet); padding: 12px 0; max-width: 70ch; }
.empty strong { color: var(--ink); font-weight: 600; display: block; }

.scroll { overflow-x: auto; max-height: 460px; overflow-y: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13px; }
caption { text-align: left; padding: 6px 10px; color: var(--quiet); }
th, td { padding: 4px 10px; text-align: left; vertical-align: top; white-space: nowrap; border-bottom: 1px solid var(--grid); font-weight: 400; }
thead th { position: sticky; top: 0; background: var(--card); color: var(--quiet); font-weight: 600; white-space: nowrap; border-bottom-color: var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover > * { background: var(--sunken); }
td.number, th.number { text-align: right; white-space: nowrap; }
td.wide { min-width: 260px; overflow-wrap: anywhere; white-space: normal; }
th[scope='row'] { max-width: 340px; overflow-wrap: break-word; white-space: normal; }
.more { justify-self: start; }

details > summary { cursor: pointer; color: var(--quiet); font-size: 13px; width: fit-content; padding: 2px 0; }
details > summary:hover { color: var(--ink); }
details[open] > summary { margin-bottom: 6px; }

figure.chart { display: grid; gap: 6px; grid-template-columns: minmax(0, 1fr); }
figure.chart .plot { width: 100%; }
figure.chart figcaption { display: grid; gap: 2px; }
figure.chart figcaption p { color: var(--quiet); font-size: 13px; max-width: 90ch; }

.legend { display: flex; flex-wrap: wrap; gap: 4px 14px; list-style: none; padding: 0; font-size: 12.5px; color: var(--quiet); }
.legend li { display: inline-flex; align-items: center; gap: 6px; }
.swatch { display: inline-block; width: 16px; border-radius: 2px; }
.swatch.ring { height: 10px; border: 2px solid #d55e00; }
.swatch.cross { width: auto; color: var(--alarm); font-weight: 700; }
`
