import { createHash } from 'node:crypto';

/** The page's one style sheet. Light by default, dark where the reader's system asks for it. */
export const STYLE = `
:root { color-scheme: light dark; --page: #fcfcfb; --ink: #0b0b0b; --muted: #52514e; --line: #d9d8d3; --axis: #8a8984;
  --field: #ffffff; --c0: #2a78d6; --c1: #eb6834; --c2: #1baf7a; --c3: #eda100; --c4: #e87ba4; --c5: #008300;
  --c6: #4a3aa7; --c7: #8a8984; }
@media (prefers-color-scheme: dark) {
  :root { --page: #1a1a19; --ink: #ffffff; --muted: #c3c2b7; --line: #383835; --axis: #8a8984; --field: #242423;
    --c0: #3987e5; --c1: #d95926; --c2: #199e70; --c3: #c98500; --c4: #d55181; --c5: #3fa33f; --c6: #9085e9;
    --c7: #8a8984; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, li.note { color: var(--muted); }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 1rem 0; }
label { display: grid; font-size: .85rem; color: var(--muted); }
input, select, button { font: inherit; color: var(--ink); background: var(--field); border: 1px solid var(--axis);
  border-radius: 6px; padding: .3rem .6rem; }
button { cursor: pointer; }
a { color: var(--c0); }
figure { margin: 0; }
svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
.grid { stroke: var(--line); }
.axis { stroke: var(--axis); }
.tick { fill: var(--muted); font: 12px system-ui, sans-serif; }
.hover { fill: transparent; }
.day:hover .hover { fill: var(--line); fill-opacity: .5; }
.open rect:not(.hover) { fill-opacity: .55; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0; padding: 0;
  font-size: .9rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
${Array.from({ length: 8 }, (_, n) => `.c${n} { fill: var(--c${n}); } .b${n} { background: var(--c${n}); }`).join('\n')}
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .75rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: .85rem; color: var(--muted); }
.n { text-align: right; }
tfoot td { font-weight: 600; border-top: 2px solid var(--axis); border-bottom: 0; }
`;

/** What the page may do: show itself and send its own form, nothing else. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
