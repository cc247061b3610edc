import { curlArguments } from '../refusals/credential-location.js';
import { escapeHtml } from '../../shared/escape-html.js';
import type { Reference } from './reference.js';

export function startSection({ operations, credentials }: Reference, where: string): string {
  const paths = operations
    .filter(({ method, secured, upstream }) => method === 'GET' && secured && upstream !== 'gateway')
    .map(({ path, anyPath }) => (anyPath === true ? path.replace(/\{.*/, '') : path));
  const first = paths.find((path) => !path.includes('{'));
  const example =
    first === undefined ? '' : `<pre>curl -i ${curlArguments(credentials, `$BASE${escapeHtml(first)}`, '$KEY')}</pre>`;
  return `<section id="start"><h2>Start</h2>
${example}
<p>Every response has <code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code> for the window
that will refuse first; <code>RateLimit</code> and <code>RateLimit-Policy</code> list all. Limits count units: most
requests cost one, and the table of operations tells which cost more. ${where}, <em>Authorize</em> takes
your key, and <em>Try it out</em> sends real requests.</p></section>`;
}

export const LIMITED_SECTION = `<section id="429"><h2>After a 429</h2>
<p>Wait as long as <code>Retry-After</code> says: a retry before it cannot succeed. If it fails again, double the wait.
Going on without waiting starts a ban of the key; requests during a ban do not lengthen it.</p>
<pre>async function ask(url, options, tries = 5) {
  for (let wait = 1; ; wait *= 2) {
    const response = await fetch(url, options);
    if (![429, 503].includes(response.status) || --tries === 0) return response;
    const least = Number(response.headers.get('Retry-After') ?? 0);
    await new Promise((go) => setTimeout(go, 1000 * (Math.max(least, wait) + Math.random())));
  }
}</pre></section>`;

export function errorsSection({ errors }: Reference): string {
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
