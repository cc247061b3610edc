/** The format of a store's data: a version that does not know it refuses the store. */
export const FORMAT = '1';

/**
 * The format once a store has a correction. Version 0.3 must refuse it: it would omit corrections from reports, and
 * erase their figures from a history.
 */
export const FORMAT_WITH_CORRECTIONS = '2';

export function isKnownFormat(format: string): boolean {
  return format === FORMAT || format === FORMAT_WITH_CORRECTIONS;
}
