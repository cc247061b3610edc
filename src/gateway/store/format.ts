/**
 * The format of a store's data: a version that does not know it refuses the store.
 */
export const FORMAT = '1';

/**
 * From the first correction on. Version 0.3 does not know corrections: it would omit them from reports, and erase their
 * figures from a history.
 */
export const FORMAT_WITH_CORRECTIONS = '2';

export function isKnownFormat(format: string): boolean {
  return format === FORMAT || format === FORMAT_WITH_CORRECTIONS;
}
