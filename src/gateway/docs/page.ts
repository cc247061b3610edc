import type { Limit } from '../admission/bucket.js';
import type { Plan, Plans } from '../admission/plan.js';
import { EVERY_OPERATION } from '../admission/windows.js';
import { curlArguments, type CredentialLocations } from '../credentials.js';
import type { Operation } from '../contract/operation.js';
import { DOCS_FILE, OPENAPI, ownOperation } from '../contract/own.js';
import { escapeHtml } from '../../shared/escape-html.js';
import type { Described, ErrorRow } from './document.js';

/** The reference as a page: what a client developer needs before the first request, then the contract itself. */
export function renderPage(
  operations: readonly Operation[],
  plans: Plans,
  described: Described,
  credentials: CredentialLocations,
): string {
  const title = escapeHtml(described.title);
  const openapi = escapeHtml(ownOperation(operations, OPENAPI)?.path ?? '');
  const file = (name: string): string =>
    escapeHtml(ownOperation(operations, DOCS_FILE)?.path.replace('{file}', name) ?? name);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file('swagger-ui.css')}">
<link rel="stylesheet" href="${file('page.css')}">
</head>
<body>
<header>
<h1>${title}</h1>
<p>${escapeHtml(described.summary)}</p>
<nav>
<a href="#start">Start</a><a href="#plans">Plans and limits</a><a href="#429">After a 429</a>
<a href="#operations">Operations</a><a href="#errors">Errors</a><a href="#reference">Reference</a>
<a href="${openapi}">openapi.json</a>
</nav>
</header>
<main>
${startSection(operations, credentials)}
${plansSection(plans)}
${LIMITED_SECTION}
${operationsSection(operations)}
${errorsSection(described.errors)}
<section id="reference"><div id="swagger-ui" data-document="${openapi}"></div></section>
</main>
<script src="${file('swagger-ui-bundle.js')}" defer></script>
<script src="${file('page.js')}" type="module"></script>
</body>
</html>
`;
}

function startSection(operations: readonly Operation[], credentials: CredentialLocations): string {
  const paths = operations
    .filter(({ method, secured, upstream }) => method === 'GET' && secured && upstream !== 'gateway')
    .map(({ path, anyPath }) => (anyPath === true ? path.replace(/\{.*/, '') : path));
  const first = paths.find((path) => !path.includes('{'));
  const example =
    first === undefined ? '' : `<pre>curl -i ${curlArguments(credentials, `$BASE${escapeHtml(first)}`, '$KEY')}</pre>`;
  return `<section id="start"><h2>Start</h2>
${example}
<p>Every answer carries <code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code> for the window
that will refuse first; <code>RateLimit</code> and <code>RateLimit-Policy</code> list all. Limits count units: most
requests cost one, and the table of operations tells which cost more. In the reference below, <em>Authorize</em> takes
your key, and <em>Try it out</em> sends real requests.</p></section>`;
}

const LIMITED_SECTION = `<section id="429"><h2>After a 429</h2>
<p>Wait as long as <code>Retry-After</code> says: a retry before it cannot succeed. If it fails again, double the wait.
Going on without waiting starts a ban of the key; requests during a ban do not lengthen it.</p>
<pre>async function ask(url, options, tries = 5) {
  for (let wait = 1; ; wait *= 2) {
    const answer = await fetch(url, options);
    if (![429, 503].includes(answer.status) || --tries === 0) return answer;
    const least = Number(answer.headers.get('Retry-After') ?? 0);
    await new Promise((go) => setTimeout(go, 1000 * (Math.max(least, wait) + Math.random())));
  }
}</pre></section>`;

function plansSection(plans: Plans): string {
  const rows = [...plans.values()]
    .filter(({ retired }) => retired !== true)
    .map(
      (plan) =>
        `<tr><td>${escapeHtml(capitalized(plan.name))}</td>${limitCells(plan)}<td>${operationsText(plan)}</td>` +
        `<td>${banText(plan)}</td></tr>`,
    );
  return `<section id="plans"><h2>Plans and limits</h2><div class="scroll"><table>
<thead><tr><th>Plan</th><th>Requests per minute</th><th>Requests per day (UTC)</th><th>Requests per month (UTC)</th>
<th>Single operations</th><th>Ban</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function limitCells({ limits }: Plan): string {
  const cell = (limit: Limit | 'custom' | '–'): string => `<td class="number">${figure(limit)}</td>`;
  if (limits === 'custom') return cell('custom').repeat(3);
  return cell(limits.minute) + cell(limits.day) + cell(limits.month ?? '–');
}

/** `createPet: 5 units, 10 per minute` */
function operationsText({ operations }: Plan): string {
  const texts = [...(operations ?? [])].flatMap(([id, { cost, windows }]) => {
    const parts = windows.map(({ per, limit }) => `${figure(limit)} per ${per}`);
    if (cost !== null) parts.unshift(costText(cost));
    return id === EVERY_OPERATION ? [] : [`<code>${escapeHtml(id)}</code>: ${parts.join(', ')}`];
  });
  return texts.length === 0 ? '–' : texts.join('<br>');
}

function figure(limit: number | string): string {
  return typeof limit === 'number' ? limit.toLocaleString('en') : limit;
}

function costText(cost: number): string {
  if (cost === 0) return 'nothing';
  return cost === 1 ? '1 unit' : `${figure(cost)} units`;
}

function banText({ ban }: Plan): string {
  return (
    `after ${ban.after} refusals in ${duration(ban.withinMs)}: ${duration(ban.forMs)}, then ×${ban.factor}, at ` +
    `most ${duration(ban.capMs)}`
  );
}

function operationsSection(operations: readonly Operation[]): string {
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

function errorsSection(errors: readonly ErrorRow[]): string {
  const rows = errors.map(
    ({ code, status, message }) =>
      `<tr id="${escapeHtml(code)}"><td class="number">${status}</td><td><code>${escapeHtml(code)}</code></td>` +
      `<td>${escapeHtml(message)}</td></tr>`,
  );
  return `<section id="errors"><h2>Errors</h2>
<p>Every error is <code>{code, message, status}</code>. Decide on <code>code</code>; the message is for people. With
<code>Accept: application/problem+json</code> it is a problem of RFC 9457, with <code>code</code> too.</p>
<div class="scroll"><table>
<thead><tr><th>Status</th><th>Code</th><th>Message</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? UNITS[3];
  return `${ms / size} ${unit}`;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
