import { escapeHtml } from '../../shared/text/escape-html.js';

/** HTML that is safe to put into a page. */
export interface Markup {
  readonly html: string;
}
type Part = Markup | string | number | false | readonly Part[];

/** Writes HTML; escapes whatever is put in and is no markup itself. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { html: texts.map((text, n) => (n === 0 ? text : written(parts[n - 1]!) + text)).join('') };
}

function written(part: Part): string {
  if (typeof part !== 'object') return part === false ? '' : escapeHtml(String(part));
  return 'html' in part ? part.html : part.map(written).join('');
}

/** Where a paragraph ends: at an empty line, or before an item of a list, a heading, a quotation or a row. */
const ENDS = /\n\s*\n|\n(?=\s*(?:[-*+#>|]|\d+[.)])\s)/;

/** Returns the paragraphs of a description, as plain text. */
export function paragraphs(text: string): readonly Markup[] {
  return text.split(ENDS).flatMap((each) => (each.trim() === '' ? [] : [markup`<p>${each}</p>`]));
}

/** In samples, the script replaces it by the origin of the page: only the browser knows the public one for certain. */
export const BASE = 'BASE_URL';

/** Returns code with a button to copy it. */
export function sample(text: string): Markup {
  return markup`<div class="sample"><button type="button" data-copy hidden>Copy</button><pre>${text}</pre></div>`;
}
