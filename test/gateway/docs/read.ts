import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { renderPage } from '../../../src/gateway/docs/page.js';
import { referenceOf, type Reference } from '../../../src/gateway/docs/reference.js';

/** The reference of a document, which may be given as text: then its numbers are exact. */
export function readReference(t: Test, document: object | string): Reference {
  const file = join(t.testdir({}), 'api.json');
  const text = typeof document === 'string' ? document : JSON.stringify({ openapi: '3.1.0', ...document });
  writeFileSync(file, text);
  return referenceOf(loadContract(file, { own_paths: '/_own' }), loadSettings({}));
}

/** The page of an operation. */
export function pageOf(reference: Reference, id: string): string {
  return renderPage(
    reference,
    reference.operations.find((operation) => operation.id === id),
  );
}

/** What a page says, without its elements. */
export function wordsOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ');
}
