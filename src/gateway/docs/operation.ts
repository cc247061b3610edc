import { ANY_METHOD } from '../contract/document/any-path.js';
import { mapping, textIn, type Mapping } from '../contract/document/references.js';
import { exampleTarget, exampleText } from '../contract/example.js';
import type { Operation } from '../contract/operation/operation.js';
import { samplesOf } from '../contract/samples.js';
import { bodyOf, type Body } from './example.js';
import { costsOf } from './figures.js';
import { BASE, markup, paragraphs, sample, type Markup } from './markup.js';
import type { Reference } from './reference.js';
import { createSchemas } from './schema.js';
import type { Resolve } from './source.js';

/** Every response has them; the overview explains them. */
const RATE_HEADERS = /^(?:x-)?ratelimit(?:-|$)/i;

/** Returns what one operation takes, costs and returns. */
export function operationDetails({ plans, credentials, read, paths }: Reference, operation: Operation): Markup {
  const { id, method, path, secured, scope, summary } = operation;
  const { described, parameters, resolve } = read(operation);
  const { schema, fields } = createSchemas(resolve);
  const inputs = inputsOf(operation, parameters, resolve);
  const { description, required, content } = resolve(described['requestBody']).value;
  const bodiesIn = (media: unknown): readonly Body[] =>
    Object.entries(mapping(media)).map(([type, each]) => bodyOf(type, mapping(each), resolve));
  const bodies = bodiesIn(content);
  const shown = (media: unknown): readonly Markup[] =>
    bodiesIn(media).map(
      ({ type, text }) => markup`<h3><code>${type}</code></h3>
${schema(mapping(mapping(media)[type])['schema'])}${text !== '' && sample(text)}`,
    );
  const responses = Object.entries(mapping(described['responses'])).map(([status, each]) => {
    const { description: text, headers, content: media } = resolve(each).value;
    const others = Object.entries(mapping(headers)).filter(([name]) => !RATE_HEADERS.test(name));
    return markup`<details><summary><b>${status}</b> ${textIn(text)}</summary>
${fields(others.map(([name, header]) => ({ name, where: 'header', ...partsOf(resolve(header).value) })))}
${shown(media)}</details>`;
  });
  const example = { method, target: exampleTarget(path, inputs), body: bodies.find(({ text }) => text !== '') };
  const samples = samplesOf(BASE, example, secured ? credentials[0] : null);
  const languages = [...samples].map(([language, text], n) => {
    return markup`<details${n === 0 && markup` open`}><summary>${language}</summary>${sample(text)}</details>`;
  });
  return markup`<h1>${summary || id}</h1>
<p><code><b>${method}</b> ${path}</code></p>
<dl class="facts"><dt>Operation ID</dt><dd><code>${id}</code></dd>
<dt>Costs</dt><dd>${costsOf(operation, plans)}</dd>
<dt>Key</dt><dd>${secured ? (scope ?? 'any valid key') : 'not needed'}</dd>
<dt>Stability</dt><dd>${stabilityOf(operation, described['deprecated'] === true)}</dd></dl>
${paragraphs(textIn(described['description']))}
${inputs.length > 0 && markup`<section id="parameters"><h2>Parameters</h2>${fields(inputs)}</section>`}
${bodies.length > 0 && markup`<section id="body"><h2>Request body${required === true && ' (required)'}</h2>`}
${bodies.length > 0 && markup`${paragraphs(textIn(description))}${shown(content)}</section>`}
${method !== ANY_METHOD && tryIt(operation, bodies, JSON.stringify(credentials[0]))}
<section id="samples"><h2>Samples</h2><p class="hint">With your key in the environment variable API_KEY.</p>
${languages}</section>
<section id="responses"><h2>Responses</h2>
<p class="hint">Each has the <a href="${paths.docs}#start">rate-limit headers</a>, too.</p>${responses}</section>`;
}

/** Returns the form that sends the request. The script shows it, because it does not work without. */
function tryIt(operation: Operation, bodies: readonly Body[], credential: string): Markup {
  const { method, path, anyPath = false, secured } = operation;
  const types = bodies.map(({ type }) => markup`<option>${type}</option>`);
  const body = markup`<label class="field">Content-Type <select data-type>${types}</select></label>
<label class="field">Body <textarea data-body rows="10" spellcheck="false">
${bodies[0]?.text ?? ''}</textarea></label>`;
  return markup`<section id="try-it" hidden><h2>Try it out</h2>
<form id="request" data-method="${method}" data-path="${path}" data-any-path="${String(anyPath)}"
data-credential="${credential}"><p class="hint">With the values of the parameters above.</p>
<label class="field">Key <input type="password" data-key autocomplete="off"${secured && markup` required`}></label>
${bodies.length > 0 && body}<button class="main">Send</button></form>
<p role="status"></p><pre data-headers></pre><pre data-content></pre></section>`;
}

function stabilityOf({ stability, sunsetAtMs }: Operation, isDeprecated: boolean): Markup {
  const end = sunsetAtMs !== null && ` gone from ${new Date(sunsetAtMs).toISOString().slice(0, 10)}`;
  if (isDeprecated || end !== false) return markup`<span class="badge warn">deprecated</span>${end}`;
  return stability === null ? markup`stable` : markup`<span class="badge">${stability}</span>`;
}

/** Returns the parameters of the path, whether described or not, then the others; each with a field for its value. */
function inputsOf({ parameters, anyPath = false }: Operation, described: readonly Mapping[], resolve: Resolve) {
  const inPath = parameters.map(({ name }) => {
    const found = described.find((each) => each['in'] === 'path' && each['name'] === name);
    return { name, in: 'path', ...found, required: true };
  });
  return [...inPath, ...described.filter((each) => each['in'] !== 'path')].map((each: Mapping) => {
    const [name, where, required] = [textIn(each['name']), textIn(each['in']), each['required'] === true];
    const value = exampleText(each, resolve(partsOf(each).schema).value);
    const marks = markup`${required && markup` value="${value ?? ''}"`}${required && !anyPath && markup` required`}`;
    // A page cannot send cookies of its choice.
    const control =
      where !== 'cookie' &&
      markup`<input data-in="${where}" data-name="${name}" aria-label="${name}"
form="request" hidden placeholder="${value ?? ''}"${marks}>`;
    return { name, where, required, value, control, ...partsOf(each) };
  });
}

/** Returns what describes the value of a parameter or header. */
function partsOf({ schema, content, description }: Mapping) {
  return { schema: schema ?? mapping(Object.values(mapping(content))[0])['schema'], description };
}
