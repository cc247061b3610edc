import { LATE_DAYS, LATEST_DAYS } from '../names.js';
import type { Link } from '../link/link.js';

/**
 * A gateway that was cut off for long brings counts of days that may stand in the archive by then. Beyond so many days
 * they get a ledger of their own, which never ends and is in every report: so that what is moved doesn't change any more.
 * The archive takes no younger day (`store.archive_after`).
 */
export function isLate(day: number, today: number): boolean {
  return today - day > LATEST_DAYS;
}

/** Notes, before they are written, that there are late counts of a day: a day without this note is not looked at for any. */
export async function noteLateDay(link: Link, day: number): Promise<void> {
  await link.command('zadd', LATE_DAYS, '0', day.toString());
}

/** The days, of those from `first` on, of which there are late counts. */
export async function lateDays(link: Link, first: number, today: number): Promise<ReadonlySet<number>> {
  if (!isLate(first, today - 1)) return new Set();
  const days = (await link.command('zrangebylex', LATE_DAYS, '-', '+')) as Buffer[];
  return new Set(days.map((day) => Number(day.toString())));
}
