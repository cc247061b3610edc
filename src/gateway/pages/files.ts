import { createHash } from 'node:crypto';
import { STYLE } from './style.js';

/** A file of the pages. Its name contains a hash of its content, so that browsers may cache it permanently. */
export interface PageFile {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

/** @param name without extension */
export function pageFile(name: string, type: keyof typeof TYPES, body: string): PageFile {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  return {
    name: `${name}.${hash}.${type}`,
    body,
    headers: {
      'Content-Type': TYPES[type],
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
  };
}

export const STYLE_FILE = pageFile('style', 'css', STYLE);
