import { samplesOf } from '../contract/samples.js';
import { BASE, markup, paragraphs, sample, type Markup } from './markup.js';
import { plansSection } from './plans-section.js';
import type { Reference } from './reference.js';

/** Returns what a client developer needs before the first request. */
export function overview({ title, summary, description, plans, errors, example, credentials }: Reference): Markup {
  const rows = errors.map(({ code, status, message }) => {
    return markup`<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${message}</td></tr>`;
  });
  return markup`<h1>${title}</h1>
${paragraphs(summary)}${paragraphs(description)}
<section id="start"><h2>Start</h2>
${sample(samplesOf(BASE, example, credentials[0]).get('curl') ?? '')}
<p>Every response has <code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code> for the window
that will refuse first; <code>RateLimit</code> and <code>RateLimit-Policy</code> list all. Limits count units: most
requests cost one, and the page of an operation says what it costs. It sends real requests, too.</p></section>
${plansSection(plans)}
<section id="429"><h2>After a 429</h2>
<p>Wait as long as <code>Retry-After</code> says: a retry before it cannot succeed. If it fails again, double the wait.
Going on without waiting starts a ban of the key; requests during a ban do not lengthen it.</p>
${sample(RETRY)}</section>
<section id="errors"><h2>Errors</h2>
<p>Every error is <code>{code, message, status}</code>. Decide on <code>code</code>; the message is for people. With
<code>Accept: application/problem+json</code> it is a problem of RFC 9457, with <code>code</code> too.</p>
<div class="scroll" tabindex="0"><table>
<thead><tr><th>Status</th><th>Code</th><th>Message</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

const RETRY = `async function ask(url, options, tries = 5) {
  for (let wait = 1; ; wait *= 2) {
    const response = await fetch(url, options);
    if (![429, 503].includes(response.status) || --tries === 0) return response;
    const least = Number(response.headers.get('Retry-After') ?? 0);
    await new Promise((go) => setTimeout(go, 1000 * (Math.max(least, wait) + Math.random())));
  }
}`;
