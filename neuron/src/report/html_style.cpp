// The page's style: light by default, dark where the reader's system asks for it. c0 .. c7 are the opcode colours, the
// same classes in tables and, read back by the script, on the timeline.
#include "html_parts.hpp"

namespace trn::neuron::report {

std::string_view page_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --edge: #dfe3e8; --ink: #12161c; --soft: #5a6472; --faint: #8a94a3;
  --grid: #e8ebef; --track: #e9ecf1; --lane: #f3f5f8; --accent: #2a6fd6; --accent2: #9cc0f2; --warn: #8a4b00; --warnbg: #fff1dc;
  --c0: #2a78d6; --c1: #1baf7a; --c2: #eda100; --c3: #e34948; --c4: #4a3aa7; --c5: #e87ba4; --c6: #008300; --c7: #eb6834;
  --c-other: #9aa3af; --on: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1116; --card: #171b22; --edge: #2a303a; --ink: #eef1f5; --soft: #a4aebb; --faint: #76808e;
    --grid: #252b34; --track: #262c36; --lane: #1c212a; --accent: #5598ee; --accent2: #2c5488; --warn: #ffcf8a; --warnbg: #3a2a10;
    --c0: #3987e5; --c1: #199e70; --c2: #c98500; --c3: #e66767; --c4: #9085e9; --c5: #d55181; --c6: #3c9a3c; --c7: #d95926;
    --c-other: #7b8492; --on: #ffffff;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1320px; padding: 28px 24px 48px; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header { margin-bottom: 18px; }
h1 { margin: 0 0 4px; font-size: 26px; line-height: 1.2; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 15px; }
header p, .note, .hint { margin: 2px 0 0; color: var(--soft); }
.hint { margin-top: 8px; font-size: 12px; color: var(--faint); }
.badge { display: inline-block; margin-right: 6px; padding: 1px 8px; border-radius: 4px; background: var(--warnbg);
  color: var(--warn); font-size: 12px; font-weight: 700; letter-spacing: 0.06em; }
main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px; align-items: start; }
.card { grid-column: 1 / -1; padding: 16px 18px; border: 1px solid var(--edge); border-radius: 10px; background: var(--card); }
.column { display: grid; gap: 16px; }
.column .card { grid-column: auto; overflow-x: auto; }
.tiles { grid-column: 1 / -1; display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 12px; }
.tile { padding: 12px 16px 12px; border: 1px solid var(--edge); border-radius: 10px; background: var(--card); }
.label { font-size: 12px; color: var(--soft); }
.value { margin: 1px 0 2px; font-size: 25px; font-weight: 650; letter-spacing: -0.02em; white-space: nowrap; }
.sub { font-size: 12px; color: var(--soft); }
.tile .track { margin: 3px 0 5px; height: 5px; }
.track { display: block; height: 10px; border-radius: 3px; background: var(--track); overflow: hidden; }
.fill { display: block; height: 100%; border-radius: 3px; }
.accent { background: var(--accent); } .accent2 { background: var(--accent2); }
.c0 { background: var(--c0); } .c1 { background: var(--c1); } .c2 { background: var(--c2); } .c3 { background: var(--c3); }
.c4 { background: var(--c4); } .c5 { background: var(--c5); } .c6 { background: var(--c6); } .c7 { background: var(--c7); }
.c-other { background: var(--c-other); }
.key { display: inline-block; width: 10px; height: 10px; margin-right: 8px; border-radius: 2px; }
table { width: 100%; margin-top: 10px; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 8px; border-bottom: 1px solid var(--grid); text-align: right; white-space: nowrap; color: var(--soft); }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child { padding-left: 0; text-align: left; font-weight: 500; color: var(--ink); }
td:last-child, th:last-child { padding-right: 0; }
td:first-child { padding-left: 0; text-align: left; color: var(--ink); }
.text th { font-size: 12px; font-weight: 500; color: var(--faint); }
.text td { vertical-align: top; }
td.long { white-space: normal; overflow-wrap: anywhere; text-align: left; }
thead th, thead th:first-child { padding-top: 0; font-size: 12px; font-weight: 500; color: var(--faint); }
.opcodes th:nth-child(2), .opcodes td:nth-child(2) { max-width: 170px; overflow: hidden; text-overflow: ellipsis; text-align: left; }
.opcodes th:first-child, .bars th:first-child { max-width: 220px; overflow: hidden; text-overflow: ellipsis; }
.strong { color: var(--ink); font-weight: 600; }
.idle > *, .idle .strong { color: var(--faint); font-weight: 400; }
.bars .wide { width: 45%; } .opcodes .wide { width: 18%; }
.stack { display: flex; gap: 2px; height: 16px; margin-top: 12px; }
.stack > span { min-width: 2px; border-radius: 3px; }
.bar { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 8px; }
.buttons { display: flex; gap: 6px; }
button { padding: 3px 10px; border: 1px solid var(--edge); border-radius: 6px; background: var(--card); color: var(--ink);
  font: inherit; font-size: 13px; cursor: pointer; }
button:hover { background: var(--lane); }
canvas { display: block; width: 100%; }
#lanes { margin-top: 10px; cursor: grab; touch-action: pan-y; outline-offset: 3px; }
#lanes.dragging { cursor: grabbing; }
#strip { height: 34px; margin-top: 8px; cursor: pointer; touch-action: pan-y; }
#tip { position: fixed; z-index: 2; max-width: min(560px, 90vw); padding: 8px 12px; border: 1px solid var(--edge); border-radius: 8px;
  background: var(--card); box-shadow: 0 6px 24px rgb(0 0 0 / 0.22); pointer-events: none; }
#tip b { display: block; }
#tip code { display: block; margin: 4px 0; font: 12px/1.4 ui-monospace, "Liberation Mono", Menlo, monospace; overflow-wrap: anywhere; }
#tip span { color: var(--soft); font-size: 12px; }
.roofline { display: block; width: 100%; margin-top: 10px; }
.roofline text { font-size: 12px; }
.grid { stroke: var(--grid); }
.tick { fill: var(--faint); }
.roof { stroke: var(--faint); stroke-width: 1.5; }
.roof.mine { stroke: var(--ink); stroke-width: 2.2; }
.name { fill: var(--soft); }
.drop { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 3 3; }
.point { fill: var(--accent); stroke: var(--card); stroke-width: 2; }
.roofline .mark { fill: var(--ink); font-size: 13px; font-weight: 600; paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
.about { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 1px 12px; margin: 6px 0 0; color: var(--soft); }
.about dt { color: var(--faint); }
.about dd { margin: 0; overflow-wrap: anywhere; }
.word { display: inline-block; max-width: 100%; }
.part { grid-column: 1 / -1; margin: 8px 0 0; }
h2.part { font-size: 19px; }
.card { overflow-x: auto; }
.card svg { max-width: 100%; height: auto; }
.card .drawing { display: block; margin: 20px auto 8px; }
.card pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.card .figure { display: block; width: 100%; max-width: 760px; margin-top: 10px; font-size: 12px; }
.half { grid-column: auto; align-self: stretch; }
@media (max-width: 900px) {
  main { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
@media (max-width: 480px) {
  body { padding: 14px 10px 28px; font-size: 13px; }
  h1 { font-size: 21px; }
  .card { padding: 12px 10px; }
  .value { font-size: 18px; white-space: normal; }
  .about { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .about dd { margin-bottom: 4px; }
  table { font-size: 11.5px; }
  th, td { padding: 4px 3px; white-space: normal; overflow-wrap: break-word; }
  .text td, .text th { padding: 4px 2px; }
  td.quantity { white-space: nowrap; }
  .bars td, .opcodes td, .facts td { white-space: nowrap; }
  .opcodes td:nth-child(2), .facts td:last-child { white-space: normal; }
  .card .figure, .roofline text, .roofline .mark { font-size: 18px; }
  .card .tree { font-size: 15px; }
  .bars .wide { width: auto; min-width: 24px; }
  .opcodes .wide { display: none; }
  .opcodes tbody th, .opcodes td:nth-child(2) { overflow-wrap: anywhere; }
}
)css";
}

}  // namespace trn::neuron::report
