import { groupQuery } from '../contract/served/group.js';
import { escapeHtml } from '../../shared/escape-html.js';
import { groupsSection, labelOf, operationsSection } from './operations.js';
import { plansSection } from './plans.js';
import type { GroupOfOperations, Reference } from './reference.js';
import { errorsSection, LIMITED_SECTION, startSection } from './sections.js';

/** Maximum number of operations shown in full on one page: more are slow to load and render. */
const FEW = 100;

const SECTIONS = [
  ['#start', 'Start'],
  ['#plans', 'Plans and limits'],
  ['#429', 'After a 429'],
  ['#operations', 'Operations'],
  ['#errors', 'Errors'],
] as const;

type Link = readonly [href: string, text: string];

/**
 * Renders the reference as a page: what a client developer needs before the first request, then the contract itself. A
 * large contract is shown as a list of its tags, each with its own page.
 */
export function renderPage(reference: Reference): string {
  const { operations, plans, title, summary, paths } = reference;
  const isWhole = operations.length <= FEW;
  const links: readonly Link[] = [...SECTIONS, ...(isWhole ? [['#reference', 'Reference'] as const] : [])];
  return document(
    reference,
    title,
    `<p>${escapeHtml(summary)}</p>\n${navigation([...links, [paths.openapi, 'openapi.json']])}`,
    `${startSection(reference, isWhole ? 'In the reference below' : 'In the reference of each tag')}
${plansSection(plans)}
${LIMITED_SECTION}
${isWhole ? operationsSection(operations) : groupsSection(reference)}
${errorsSection(reference)}`,
    isWhole ? paths.openapi : null,
  );
}

/** Renders the page of one tag: its operations and their part of the document. */
export function renderGroup(reference: Reference, { group, description, operations }: GroupOfOperations): string {
  const { title, paths } = reference;
  const part = paths.openapi + groupQuery(group);
  const links: readonly Link[] = [
    [`${paths.docs}#operations`, 'All tags'],
    [`${paths.docs}#start`, 'Start'],
    [`${paths.docs}#errors`, 'Errors'],
    ['#operations', 'Operations'],
    ['#reference', 'Reference'],
    [part, 'openapi.json of this tag'],
  ];
  return document(
    reference,
    `${labelOf(group)} – ${title}`,
    `<p>${escapeHtml(description)}</p>\n${navigation(links)}`,
    operationsSection(operations),
    part,
  );
}

function navigation(links: readonly Link[]): string {
  const anchors = links.map(([href, text]) => `<a href="${escapeHtml(href)}">${text}</a>`);
  return `<nav>\n${anchors.join('\n')}\n</nav>`;
}

/** @param openapi address of the document that Swagger UI shows; null: no Swagger UI */
function document({ paths }: Reference, title: string, head: string, sections: string, openapi: string | null): string {
  const file = (name: string): string => escapeHtml(paths.file(name));
  const [styles, swagger] =
    openapi === null
      ? ['', '</main>']
      : [
          `<link rel="stylesheet" href="${file('swagger-ui.css')}">\n`,
          `<section id="reference"><div id="swagger-ui" data-document="${escapeHtml(openapi)}"></div></section>
</main>
<script src="${file('swagger-ui-bundle.js')}" defer></script>
<script src="${file('page.js')}" type="module"></script>`,
        ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${styles}<link rel="stylesheet" href="${file('page.css')}">
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
${head}
</header>
<main>
${sections}
${swagger}
</body>
</html>
`;
}
