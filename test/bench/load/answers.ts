import type { Aim } from '../traffic.js';

interface Answers {
  readonly good: number;
  /** 4xx and 5xx. */
  readonly refused: number;
  /** Connections that could not be made or were cut, and answers that never came. */
  readonly broken: number;
}

/** A figure of requests that did not end as the case says would mislead: throws. */
export function checkAnswers(
  { port, traffic: { status, keyCount, target } }: Aim,
  { good, refused, broken }: Answers,
): void {
  const wrong = status < 400 ? refused : good;
  // A key that is refused most of the time is admitted once.
  const allowed = status < 400 ? 0 : keyCount;
  if (wrong <= allowed && broken === 0) return;
  throw new Error(
    `port ${port}, ${target}: ${status} was wanted, but ${good} answers were good, ${refused} refused and ` +
      `${broken} broken`,
  );
}
