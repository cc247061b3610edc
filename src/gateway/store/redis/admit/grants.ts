import type { Per } from '../../../admission/bucket.js';
import type { Extra } from '../../records/grant.js';

/**
 * Grants as the script reads them, in the field `more` of a key, in its summary, and in the terms of a customer:
 * `<window>:<units>:<until, ms>+` for each. Those that are over stay in the text until the next change, for it is the
 * time of the step that says which are in force.
 */
export function grantsText(grants: readonly Extra[]): string {
  return grants.map(({ window, units, untilMs }) => `${window}:${units}:${untilMs}+`).join('');
}

/** The grants in such a text. */
export function grantsIn(text: string): readonly Extra[] {
  return [...text.matchAll(/(\w+):(\d+):(\d+)\+/gy)].map(([, window, units, until]) => ({
    window: window as Per,
    units: Number(units),
    untilMs: Number(until),
  }));
}

/** The last byte of such a text; no other part of a summary ends with it. */
export const GRANTS_END = '+'.charCodeAt(0);
