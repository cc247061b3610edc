import type { Operation } from '../contract/operation.js';
import { groupQuery, type Group } from '../contract/served/group.js';
import { escapeHtml } from '../../shared/escape-html.js';
import { costText, figure } from './figures.js';
import type { Reference } from './reference.js';

/** Maximum number of characters of a description in the index. */
const BRIEF = 200;

/** Returns the title of a group. */
export function labelOf(group: Group): string {
  return group ?? 'Without a tag';
}

/** Renders the index of a large reference. */
export function groupsSection({ operations, groups, paths }: Reference): string {
  const rows = [...groups.values()].map(
    ({ group, description, operations: { length } }) =>
      `<tr><td><a href="${escapeHtml(paths.docs + groupQuery(group))}">${escapeHtml(labelOf(group))}</a></td>` +
      `<td class="number">${figure(length)}</td><td>${escapeHtml(brief(description))}</td></tr>`,
  );
  return `<section id="operations"><h2>Operations</h2>
<p>${figure(operations.length)} operations, by tag.
The page of a tag says what they cost and need, with their reference.</p>
<div class="scroll"><table>
<thead><tr><th>Tag</th><th>Operations</th><th>About</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

/** Returns the first line of a description, shortened if it is long. */
function brief(description: string): string {
  const [line = ''] = description.trim().split('\n', 1);
  return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
}

export function operationsSection(operations: readonly Operation[]): string {
  const rows = operations.map(
    (operation) =>
      `<tr><td><code>${operation.method} ${escapeHtml(operation.path)}</code></td>` +
      `<td>${operation.scope === null ? '–' : `<code>${escapeHtml(operation.scope)}</code>`}</td>` +
      `<td>${costText(operation.cost)}</td><td>${stabilityOf(operation)}</td></tr>`,
  );
  return `<section id="operations"><h2>Operations</h2><div class="scroll"><table>
<thead><tr><th>Operation</th><th>Scope</th><th>Costs</th><th>Stability</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function stabilityOf({ stability, sunsetAtMs }: Operation): string {
  if (sunsetAtMs !== null)
    return `<span class="badge warn">deprecated</span> gone from ${new Date(sunsetAtMs).toISOString().slice(0, 10)}`;
  return stability === null ? 'stable' : `<span class="badge">${stability}</span>`;
}
