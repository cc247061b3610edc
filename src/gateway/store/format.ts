/**
 * What a store says of its form, so that a version that does not know that form leaves it alone.
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
