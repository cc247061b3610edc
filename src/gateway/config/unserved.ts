import type { Log } from '../../shared/log.js';
import { repeat } from '../../shared/turns/repeat.js';
import { renderProblem, type Problem } from './files/problem.js';

const POLL_MS = 1_000;
/** Interval between checks while keys are not served: each reads every key. */
const RECHECK_MS = 60_000;

/** A key created during the check of new plans is written by then, on the old plans. */
const SETTLE_MS = 2_000;

/**
 * Watches for keys and customers that the plans in force do not serve. Others are not affected.
 * @param find rejects while the store is unavailable, and is then repeated
 */
export function watchUnserved(find: () => Promise<readonly Problem[]>, log: Log) {
  let problems: readonly string[] = [];
  let dueMs = 0;
  const check = async (): Promise<void> => {
    if (performance.now() < dueMs) return;
    dueMs = Infinity;
    const before = problems;
    problems = (await find()).map(renderProblem);
    if (problems.length > 0) {
      dueMs = performance.now() + RECHECK_MS;
      if (problems.join() !== before.join())
        log.error(
          { problems },
          'the plans in force do not cover everyone: requests with the other keys get 503 or 403, and are not counted',
        );
    } else if (before.length > 0) log.info('the plans in force cover everyone again');
  };
  const stop = repeat(POLL_MS, check, () => {
    dueMs = 0;
  });
  return {
    /** Who is not served, for people; null if everybody is, as far as known. */
    detail: () => (problems.length === 0 ? null : `the plans in force do not cover everyone: ${problems.join('; ')}`),
    /** Other plans are in force. @param narrowed whether they may serve fewer keys */
    recheck: (narrowed: boolean): void => {
      if (narrowed || problems.length > 0) dueMs = performance.now() + SETTLE_MS;
    },
    stop: () => void stop(),
  };
}
