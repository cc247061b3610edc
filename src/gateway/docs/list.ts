import type { Operation } from '../contract/operation/operation.js';
import { fullNumber } from '../pages/components/figure.js';
import { markup, type Markup } from './markup.js';
import type { Reference } from './reference.js';

/** With more operations than this, a page lists only those of its own tag; the overview lists all. */
const FEW = 100;

/** Returns the operations by tag. @param current that of the page; null on the overview */
export function operationList({ operations, groups, paths: { docs } }: Reference, current: Operation | null): Markup {
  const isShort = operations.length <= FEW;
  const isListed = (group: Reference['groups'][number]): boolean =>
    isShort || current === null || group.operations.includes(current);
  const entry = (operation: Operation): Markup => {
    const mark = operation === current && markup` aria-current="page"`;
    return markup`<li><a href="${docs}?operation=${encodeURIComponent(operation.id)}"${mark}>
<b>${operation.method}</b> <code>${operation.path}</code> ${operation.summary}</a></li>`;
  };
  const entries = groups.map((group, n) => {
    const label = `${group.name ?? 'Without a tag'} (${fullNumber(group.operations.length)})`;
    if (!isListed(group)) return markup`<a href="${docs}#tag-${n}">${label}</a>`;
    return markup`<details${(isShort || current !== null) && markup` open`}><summary>${label}</summary>
<p class="hint">${group.description.slice(0, 200)}</p><ul id="tag-${n}">${group.operations.map(entry)}</ul></details>`;
  });
  return markup`<nav id="operations" aria-label="Operations" data-docs="${groups.every(isListed) ? '' : docs}">
<h2>${fullNumber(operations.length)} operations</h2>
<input type="search" aria-label="Search operations" placeholder="Search" hidden><p class="hint" role="status"></p>
${entries}</nav>`;
}
