import { OWN_IDS, OWN_USAGE } from '../contract/own.js';

/** Pages and their files, which are in the document but are not part of the API. */
const PAGES = [...OWN_IDS].filter((id) => id !== OWN_USAGE).map((id) => `#operations-gateway-${String(id)}`);

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dfe7; --paper: #fff;
  --panel: #f5f7fa; --accent: #0b6b57; --warn: #a8480f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf2; --soft: #9aa7b8; --line: #313b49; --paper: #12171f; --panel: #1a212c; --accent: #4fd1b0;
    --warn: #f0a35e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
header, main > section { max-width: 68rem; margin: 0 auto; padding: 1rem 1.25rem; }
h1 { font-size: 1.9rem; margin: 1rem 0 .25rem; }
h2 { font-size: 1.3rem; margin: 1.5rem 0 .5rem; }
header > p, section > p { margin: .5rem 0; max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: .75rem; }
a { color: var(--accent); }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
section > pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem;
  overflow-x: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td:last-child { min-width: 13rem; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .5rem;
  font-size: .75rem; color: var(--accent); }
.badge.warn { color: var(--warn); }
#reference { max-width: none; padding: 0; }
#reference .swagger-ui { max-width: 68rem; margin: 0 auto; background: none; }
#reference .swagger-ui .wrapper { padding: 0 1.25rem; }
#reference .scheme-container { background: none; }
#reference .opblock-deprecated { opacity: 1; }
#reference .opblock-summary-method { color: #080a0b; text-shadow: none; }
${PAGES.join(', ')} { display: none; }
.dark-mode #reference .opblock-deprecated .opblock-summary-method { background: #8c969a; }
#reference .info .title small { background: #434b4f; }
#reference .info .title small.version-stamp { background: #1d632e; }
`;
