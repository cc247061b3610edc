/** For the parts of a plot, and for the status classes 2xx, 3xx, 4xx and 5xx. */
const COLOURS = [...Array.from({ length: 8 }, (_, n) => `c${n}`), 's2', 's3', 's4', 's5'];

/** The style sheet of all pages: light or dark as the system prefers, for phones to wide screens. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #56616f; --line: #d9dfe7; --axis: #7d8896; --paper: #fff;
  --panel: #f5f7fa; --accent: #0b6b57; --on-accent: #fff; --warn: #96400c; --danger: #b3261e; --good: #0b6b57;
  --c0: #2a78d6; --c1: #eb6834; --c2: #1baf7a; --c3: #eda100; --c4: #e87ba4; --c5: #008300; --c6: #4a3aa7;
  --c7: #8a8984; --s2: #7fa8c9; --s3: #8a8984; --s4: #d98e04; --s5: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf2; --soft: #a3afbf; --line: #313b49; --axis: #7d8896; --paper: #12171f; --panel: #1a212c;
    --accent: #4fd1b0; --on-accent: #0c1512; --warn: #f0a35e; --danger: #ff8a80; --good: #4fd1b0;
    --c0: #3987e5; --c1: #d95926; --c2: #199e70; --c3: #c98500; --c4: #d55181; --c5: #3fa33f; --c6: #9085e9;
    --c7: #8a8984; --s2: #5c86a8; --s3: #8a8984; --s4: #d98e04; --s5: #ff6b5e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .25rem .75rem; }
body > header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: .6rem 1.25rem;
  border-bottom: 1px solid var(--line); background: var(--panel); }
.brand { font-weight: 700; color: var(--ink); text-decoration: none; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
nav a { color: var(--soft); text-decoration: none; padding: .2rem 0; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--ink); }
nav a[aria-current] { color: var(--ink); border-color: var(--accent); }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; margin-left: auto; color: var(--soft);
  font-size: .875rem; }
main { max-width: 78rem; margin: 0 auto; padding: .5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: .75rem 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.soft, .hint { color: var(--soft); }
.hint { font-size: .85rem; }
code, pre { font: .875em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem;
  overflow-x: auto; white-space: pre-wrap; }
.secret { font-size: 1rem; user-select: all; }
.notice { border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: 6px;
  background: var(--panel); padding: .5rem 1rem; margin: 1rem 0; }
.notice.warn { border-left-color: var(--warn); }
.notice.danger { border-left-color: var(--danger); }
.notice > :first-child { margin-top: 0; }
.notice > :last-child { margin-bottom: 0; }
.scroll { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; font-weight: 400; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
.scroll:has(tbody tr:nth-child(30)) { max-height: 90vh; overflow-y: auto; }
.scroll:has(tbody tr:nth-child(30)) thead th { position: sticky; top: 0; background: var(--paper); }
tfoot th, tfoot td { font-weight: 600; border-top: 2px solid var(--axis); border-bottom: 0; }
.number + :not(.number) { padding-left: 1rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .5rem;
  font-size: .75rem; white-space: nowrap; color: var(--soft); }
.badge.good { color: var(--good); }
.badge.warn { color: var(--warn); }
.badge.danger { color: var(--danger); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .5rem 0; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .75rem; margin: 1rem 0;
  padding: 0; list-style: none; }
.cards > li { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); padding: .6rem .9rem; }
.cards .figure { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
form { margin: 1rem 0; max-width: 34rem; }
form.inline { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem .75rem; margin: .5rem 0;
  max-width: none; }
.tools form { margin: 0; }
.tools input { width: 10rem; }
.field { margin: 0 0 .9rem; }
form.inline .field { margin: 0; }
.field label, legend { display: block; font-size: .9rem; font-weight: 600; }
.field.check label { display: inline; font-weight: 400; margin-left: .4rem; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 .9rem; padding: .5rem .9rem; }
.problem { color: var(--danger); font-size: .9rem; margin: .15rem 0; }
input, select, textarea, button, .button { font: inherit; color: var(--ink); background: var(--paper);
  border: 1px solid var(--axis); border-radius: 6px; padding: .35rem .65rem; max-width: 100%; }
.field input:not([type=checkbox], [type=radio]), .field select, .field textarea { width: 100%; }
.field input:not([type=checkbox], [type=radio]), .field select, .field ~ button { min-height: 2.5rem; }
form.inline .field input, form.inline .field select { width: auto; }
[aria-invalid=true] { border-color: var(--danger); }
button, .button { cursor: pointer; text-decoration: none; display: inline-block; }
button.main, .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent);
  font-weight: 600; }
button.danger { border-color: var(--danger); color: var(--danger); }
button:hover, .button:hover { filter: brightness(1.08); }
.actions { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: start; margin: .75rem 0; }
.actions > form.inline, .actions > details { margin: 0; }
.actions > details > summary { padding: .35rem 0; border: 1px solid transparent; }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--accent); }
figure { margin: .5rem 0; }
figcaption { font-weight: 600; margin-top: 1rem; }
svg { display: block; width: 100%; min-width: 38rem; height: auto; }
.grid { stroke: var(--line); }
.axis { stroke: var(--axis); }
.tick { fill: var(--soft); font: 12px system-ui, sans-serif; }
.limit { stroke: var(--danger); stroke-width: 2; stroke-dasharray: 6 4; }
.swatch.limit { height: 0; border-top: 2px dashed var(--danger); vertical-align: middle; border-radius: 0; }
.hover { fill: transparent; }
.bar:hover .hover { fill: var(--line); fill-opacity: .5; }
.pale rect:not(.hover) { fill-opacity: .55; }
.spark { width: 100%; min-width: 0; max-width: 10rem; margin: .25rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0; padding: 0;
  font-size: .9rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
${COLOURS.map((name) => `.${name} { fill: var(--${name}); background: var(--${name}); }`).join('\n')}
${COLOURS.map((name) => `.line.${name} { stroke: var(--${name}); }`).join('\n')}
.line { fill: none; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.s1 { fill: var(--s3); background: var(--s3); }
td.number { white-space: nowrap; }
td .spark { width: 5rem; margin-left: auto; }
@media (max-width: 40rem) {
  thead { position: absolute; left: -99rem; }
  table, caption, tbody, tfoot, tr, tbody th, tfoot th { display: block; }
  tr { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); padding: .4rem .75rem;
    margin: .5rem 0; }
  tbody th, tfoot th, td, .number + td:not(.number) { border: 0; padding: .15rem 0; overflow-wrap: anywhere; }
  tbody th, tfoot th { font-weight: 600; text-align: left; }
  td { display: flow-root; text-align: right; }
  td::before { content: attr(data-label); color: var(--soft); float: left; margin-right: 1rem; }
  td:empty { display: none; }
  .scroll:has(> svg) { direction: rtl; }
  svg { direction: ltr; }
  body > header nav { flex-wrap: nowrap; overflow-x: auto; width: 100%; order: 1; }
  .cards { grid-template-columns: 1fr 1fr; }
  dl.facts { grid-template-columns: fit-content(45%) 1fr; }
  .tools { margin-left: 0; }
}
`;
