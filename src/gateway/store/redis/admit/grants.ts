import type { Per } from '../../../admission/bucket.js';
import type { Extra } from '../../records/grant.js';

/**
 * Returns grants as the script reads them, in the field `more` of a key, in its summary, and in the terms of a
 * customer: `<window>:<units>:<until, ms>+` each. Expired grants stay in the text until the next change, because which
 * ones are in force depends on the time of the request.
 */
export function grantsText(grants: readonly Extra[]): string {
  return grants.map(({ window, units, untilMs }) => `${window}:${units}:${untilMs}+`).join('');
}

/** Parses a text from `grantsText`. */
export function grantsIn(text: string): readonly Extra[] {
  return [...text.matchAll(/(\w+):(\d+):(\d+)\+/gy)].map(([, window, units, until]) => ({
    window: window as Per,
    units: Number(units),
    untilMs: Number(until),
  }));
}

/** The last byte of such a text; no other part of a summary ends with it. */
export const GRANTS_END = '+'.charCodeAt(0);
