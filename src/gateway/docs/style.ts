import { STYLE } from '../pages/style.js';

/** The style sheet of the reference: that of all pages, with the operations on the left of wide screens. */
export const DOCS_STYLE = `${STYLE}
[hidden], pre:empty { display: none !important; }
#operations, #operations > a, label.field { display: block; }
#operations { padding: .5rem 1.25rem 4rem; font-size: .875rem; }
#operations input { width: 100%; }
#operations ul { list-style: none; margin: .25rem 0; padding: 0; }
#operations li a { display: block; padding: .3rem .5rem; border: 0; border-left: 3px solid transparent; }
#operations li a[aria-current] { border-color: var(--accent); background: var(--panel); }
main { margin: 0; min-width: 0; }
ul.fields { list-style: none; margin: .25rem 0; padding-left: 1rem; border-left: 2px solid var(--line); }
ul.fields li { margin: .6rem 0; overflow-wrap: anywhere; }
.sample { position: relative; }
.sample pre { padding-right: 5rem; }
.sample button { position: absolute; right: .5rem; top: .5rem; padding: .1rem .5rem; font-size: .8rem; }
textarea { font: .875em/1.5 ui-monospace, monospace; }
@media (min-width: 60rem) {
  body { display: grid; grid-template: "head head" auto "list page" 1fr / 22rem minmax(0, 1fr); }
  body > header { grid-area: head; }
  main { grid-area: page; }
  #operations { grid-area: list; border-right: 1px solid var(--line); }
}
`;
