import { TOKEN_RULES } from './tokens.ts'

/** The ground: colours, type, the frame around the views. Steps of 4 px. */
export const BASE = `
:root {
  color-scheme: light dark;
${TOKEN_RULES}
  --font: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 14px/1.45 var(--font);
  font-variant-numeric: tabular-nums;
  -webkit-text-size-adjust: 100%;
}
a { color: var(--accent); text-underline-offset: 2px; }
h1, h2, h3, p, dl, dd, ul, ol, figure, pre { margin: 0; }
h1 { font-size: 15px; font-weight: 650; }
h2 { font-size: 15px; font-weight: 650; }
h3 { font-size: 13px; font-weight: 650; }
code, pre, .mono { font-family: var(--mono); font-size: 12.5px; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
button, select, input {
  font: inherit;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 6px;
  padding: 3px 10px;
  min-height: 30px;
}
button { cursor: pointer; }
button:hover, select:hover { border-color: var(--quiet); }
label { color: var(--quiet); }
.skip { position: absolute; left: -999px; top: 8px; background: var(--card); padding: 8px 12px; z-index: 9; }
.skip:focus { left: 8px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--quiet); }
.alarm { color: var(--alarm); }
.good { color: var(--good); }
.tiles[hidden] { display: none; }
.number { text-align: right; }
.nowrap { white-space: nowrap; }

.top { background: var(--card); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 5; }
.top > div, .tabs > div, main { max-width: 1360px; margin: 0 auto; padding-inline: 20px; }
.title { display: flex; align-items: center; gap: 8px 14px; padding-block: 10px 4px; flex-wrap: wrap; }
.title .job { font-family: var(--mono); font-size: 12.5px; color: var(--quiet); overflow-wrap: anywhere; }
.title .space { flex: 1; }
.badge { display: inline-flex; align-items: center; gap: 6px; padding: 1px 9px; border: 1px solid var(--line); border-radius: 99px; font-size: 12.5px; white-space: nowrap; }
.badge::before { content: ''; width: 8px; height: 8px; border-radius: 50%; background: var(--quiet); }
.badge.live::before { background: var(--good); }
.badge.followed::before { background: var(--accent); border-radius: 2px; }
.badge.lost { color: var(--alarm); border-color: currentcolor; }
.badge.lost::before { background: var(--alarm); clip-path: polygon(50% 0, 100% 100%, 0 100%); border-radius: 0; }
.tabs ul { display: flex; gap: 2px; list-style: none; padding: 0; overflow-x: auto; scrollbar-width: none; margin-inline: -10px; }
.tabs a { display: block; padding: 6px 10px 7px; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; white-space: nowrap; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); font-weight: 600; }
.tabs a:focus-visible { outline-offset: -3px; }
.tabs .tally { color: var(--alarm); font-size: 12px; margin-left: 4px; }
main { padding-block: 20px 48px; display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.notice { border: 1px solid var(--line); border-left: 4px solid var(--alarm); background: var(--card); border-radius: 6px; padding: 8px 14px; }

@media (max-width: 640px) {
  .top > div, .tabs > div, main { padding-inline: 12px; }
  main { padding-block: 12px 32px; gap: 12px; }
  .top { position: static; }
  .title .space { display: none; }
  .title .controls { width: 100%; flex-wrap: nowrap; }
  .title .controls label { flex: 1; min-width: 0; }
  .title .controls label > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .title .controls select { width: 100%; }
  .tabs ul { flex-wrap: wrap; }
}
@media (prefers-reduced-motion: no-preference) {
  .badge.live::before { animation: breathe 2.4s ease-in-out infinite; }
  @keyframes breathe { 50% { opacity: 0.35; } }
}
`
