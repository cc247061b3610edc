/**
 * The format of a store's data: a version that does not know it leaves the store alone.
 */
export const FORMAT = '1';

/**
 * From the first correction on. Version 0.3, which knows none, would leave them out of reports, and erasing would take
 * their figures out of a history.
 */
export const FORMAT_WITH_CORRECTIONS = '2';

export function isKnownFormat(format: string): boolean {
  return format === FORMAT || format === FORMAT_WITH_CORRECTIONS;
}
