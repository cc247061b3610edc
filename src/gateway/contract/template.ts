import { normalPath } from '../edge/target.js';

/** What only stands escaped in a path of HTTP. */
const ODD = /[^\x21-\x7e]|["<>\\^`{|}]/gu;

/** The template with its text in the normal form of requests; null when no request has such a path. */
export function normalTemplate(template: string): string | null {
  if (!template.startsWith('/')) return null;
  const parts = template
    .split(/(\{[^{}]*\})/)
    .map((part, index) => (index % 2 === 1 ? part : /[#?]/.test(part) ? null : normalPath(part.replace(ODD, escaped))));
  return parts.includes(null) ? null : parts.join('');
}

function escaped(character: string): string {
  return Buffer.from(character).toString('hex').replaceAll(/../g, '%$&');
}
