/** What one view alone has. */
export const VIEWS = `
.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 12px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px 8px; display: grid; grid-template-rows: auto auto 1fr auto; gap: 2px; min-width: 0; }
.tile dt { color: var(--quiet); font-size: 13px; }
.tile .figure { font-size: 24px; line-height: 1.2; font-weight: 600; letter-spacing: -0.01em; white-space: nowrap; }
.tile .figure small { font-size: 14px; font-weight: 400; color: var(--quiet); letter-spacing: 0; }
.tile .note { color: var(--quiet); font-size: 12.5px; min-height: 18px; }
.spark { display: block; width: 100%; height: 34px; margin-top: 6px; overflow: visible; }
.spark polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.spark polygon { fill: var(--accent); opacity: 0.11; }
.spark line { stroke: var(--grid); vector-effect: non-scaling-stroke; }

.progress { display: grid; gap: 6px; }
.bar { display: flex; height: 14px; border-radius: 4px; overflow: hidden; background: var(--grid); }
.bar > span { display: block; height: 100%; min-width: 1px; }
.bar > span + span { border-left: 1px solid var(--card); }
.bar.thin { height: 6px; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.facts > div { display: flex; gap: 6px; }
.facts dt { color: var(--quiet); }

.late { list-style: none; padding: 0; display: grid; gap: 4px 24px; font-size: 13px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); align-content: start; min-height: 44px; }
.late li { display: flex; gap: 4px 10px; flex-wrap: wrap; align-items: baseline; }
.late li::before { content: '▲'; color: var(--alarm); font-size: 10px; }
.lanes-wrap { position: relative; display: grid; gap: 6px; }
.lanes { position: relative; height: 560px; overflow-x: hidden; overflow-y: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--sunken); }
.lanes canvas { position: sticky; top: 0; left: 0; display: block; width: 100%; cursor: crosshair; }
.lanes canvas:focus-visible { outline-offset: -3px; }
.tip { position: absolute; pointer-events: none; background: var(--card); border: 1px solid var(--quiet); border-radius: 6px; padding: 6px 10px; font-size: 12.5px; max-width: 300px; z-index: 3; box-shadow: 0 4px 14px rgb(0 0 0 / 18%); }
.told { min-height: 20px; font-size: 13px; color: var(--quiet); }
@media (max-width: 860px) { .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 640px) {
  .tile .figure { font-size: 19px; }
  .tile .figure small { font-size: 12.5px; }
  .late { min-height: 116px; }
  .lanes { height: 420px; }
  .lanes-wrap .told { min-height: 57px; }
}

.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 310px), 1fr)); gap: 8px; list-style: none; padding: 0; }
.group { contain: content; border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px 8px; display: grid; gap: 5px; min-width: 0; }
.group.dropped { border-style: dashed; }
.group .head { display: flex; gap: 8px; align-items: baseline; min-width: 0; }
.group .head b { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; flex: 1; font-size: 13px; }
.group .head span { color: var(--quiet); font-size: 12px; white-space: nowrap; }
.cells { display: flex; flex-wrap: wrap; gap: 3px; list-style: none; padding: 0; }
.cell { display: grid; place-items: center; min-width: 28px; height: 24px; padding: 0 4px; border-radius: 4px; border: 1px solid var(--line); font-size: 12px; text-decoration: none; color: var(--ink); background: var(--card); border-bottom-width: 3px; }
.cell.full { background: var(--good-ground); border-color: var(--good); color: var(--good); font-weight: 600; }
.cell.part { background: var(--part-ground); border-color: #a67c00; }
.cell.zero { color: var(--quiet); border-color: var(--quiet); }
.cell.failed { background: var(--alarm-ground); border-color: var(--alarm); border-style: dashed; color: var(--alarm); font-weight: 600; }
.cell.absent { color: var(--quiet); border-style: dotted; }

.failures { display: grid; gap: 10px; list-style: none; padding: 0; }
.failure { border: 1px solid var(--line); border-left: 4px solid var(--alarm); border-radius: 6px; padding: 8px 14px 10px; display: grid; gap: 6px; min-width: 0; }
.failure .head { display: flex; gap: 4px 12px; align-items: baseline; flex-wrap: wrap; }
.failure .head b { font-family: var(--mono); font-size: 13px; overflow-wrap: anywhere; }
.failure .count { font-size: 18px; font-weight: 600; }
.failure blockquote { margin: 0; padding: 6px 10px; background: var(--sunken); border-radius: 4px; overflow-wrap: anywhere; white-space: pre-wrap; font-size: 13px; }

.standing { white-space: nowrap; }
.standing.joined > span { color: var(--good); }
.standing.draining > span, .standing.left > span { color: var(--quiet); }
.standing.silent, .standing.lost { color: var(--alarm); font-weight: 600; }
.node { white-space: nowrap; }
.load { display: grid; grid-template-columns: 72px auto; gap: 8px; align-items: center; justify-content: start; }
.load .bar > span { background: var(--accent); }

.turns { display: grid; gap: 10px; list-style: none; padding: 0; }
.turn { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: 8px 14px 12px; display: grid; gap: 8px; grid-template-columns: minmax(0, 1fr); }
.turn > header { display: flex; gap: 2px 14px; flex-wrap: wrap; align-items: baseline; font-size: 12.5px; color: var(--quiet); }
.turn > header h3 { color: var(--ink); }
.turn.assistant { border-left: 4px solid #009e73; }
.turn.tool { border-left: 4px solid #e69f00; }
.turn.prompt { border-left: 4px solid #0072b2; }
.turn.grade { border-left: 4px solid #cc79a7; }
.turn pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunken); border-radius: 6px; padding: 8px 12px; }
.turn pre.whole { max-height: 640px; overflow-y: auto; }
.call { display: grid; gap: 4px; grid-template-columns: minmax(0, 1fr); }
.call .name { font-size: 13px; }
.tokens { font-family: var(--mono); font-size: 12.5px; line-height: 1.75; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunken); border-radius: 6px; padding: 8px 12px; max-height: 420px; overflow-y: auto; }
.tokens span { border-radius: 2px; padding: 1px 0; }
.l1 { background: var(--likely-1); }
.l2 { background: var(--likely-2); }
.l3 { background: var(--likely-3); text-decoration: underline dotted; }
.l4 { background: var(--likely-4); text-decoration: underline; }
.token { color: var(--ink); border-radius: 2px; padding: 0 6px; }
.tokens .on { outline: 2px solid var(--focus); }
.tokens .id { margin-right: 4px; }
.search { display: flex; gap: 8px; flex-wrap: wrap; align-items: end; }
.search a { padding-bottom: 5px; }
.search label { display: grid; gap: 2px; font-size: 13px; }
.search input { width: min(30ch, 100%); font-family: var(--mono); font-size: 13px; }
.choices { display: flex; gap: 6px; flex-wrap: wrap; list-style: none; padding: 0; }
.choices a { display: block; border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; text-decoration: none; }
.choices a[aria-current] { border-color: var(--accent); font-weight: 600; }
`
