import { normalPath } from '../../edge/target.js';

/** Characters that must be escaped in an HTTP path. */
const ODD = /[^\x21-\x7e]|["<>\\^`{|}]/gu;

/** Returns the template with its text in the normal form of requests; null if no request can have such a path. */
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
