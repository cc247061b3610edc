import type { Operation } from '../contract/operation/operation.js';
import { operationList } from './list.js';
import { markup, type Markup } from './markup.js';
import { operationDetails } from './operation.js';
import { overview } from './overview.js';
import type { Reference } from './reference.js';

/**
 * Renders the overview, or the page of one operation. Each has its own, so that it does not matter how many there are.
 * @param operation null for the overview; undefined if there is none with the requested id
 */
export function renderPage(reference: Reference, operation: Operation | null | undefined): string {
  const { docs, openapi, file } = reference.paths;
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${operation ? `${operation.id} · ` : false}${reference.title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file('page.css')}">
<script type="module" src="${file('page.js')}"></script></head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="${docs}">${reference.title}</a>
<nav aria-label="Sections"><a href="${docs}#start">Start</a> <a href="${docs}#plans">Plans and limits</a>
<a href="${docs}#429">After a 429</a> <a href="${docs}#errors">Errors</a> <a href="#operations">Operations</a>
${openapi !== '' && markup`<a href="${openapi}">openapi.json</a>`}</nav></header>
<main id="content">${contentOf(reference, operation)}</main>
${operationList(reference, operation ?? null)}</body></html>
`.html;
}

function contentOf(reference: Reference, operation: Operation | null | undefined): Markup {
  if (operation === undefined)
    return markup`<h1>There is no such operation</h1>
<p>No operation of this API has the id in the address. Search the list of operations, or <a
href="${reference.paths.docs}">start at the overview</a>.</p>`;
  return operation === null ? overview(reference) : operationDetails(reference, operation);
}
