import type { DocumentOperation } from './document.js';

/** Headers of every answer: Deprecation (RFC 9745), Sunset (RFC 8594), Link (RFC 8288), X-Stability; flat. */
export function fixedHeaders(operation: DocumentOperation): readonly string[] {
  const headers: string[] = [];
  const deprecatedAt = operation['x-deprecated-at'];
  if (deprecatedAt !== undefined) headers.push('Deprecation', `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`);
  const sunset = operation['x-sunset'];
  // Date's own text is the IMF-fixdate of RFC 9110.
  if (sunset !== undefined) headers.push('Sunset', new Date(sunset).toUTCString());
  const links = Object.entries(operation['x-links'] ?? {}).map(
    ([relation, target]) => `<${target}>; rel="${relation}"`,
  );
  if (links.length > 0) headers.push('Link', links.join(', '));
  const { stability } = operation['x-petgate'];
  if (stability !== null) headers.push('X-Stability', stability);
  return headers;
}
