import type { Reading } from './read.js';
import type { UndiciReading } from './undici.js';

/** Where the two readers come to different results, and why that is meant so. */
interface Difference {
  readonly why: string;
  is(text: string, ours: Reading, theirs: UndiciReading): boolean;
}

const isWhole = ({ outcome }: Reading): boolean => outcome === 'done' || outcome === 'surplus';
const onlyWeRefuse = (ours: Reading, theirs: UndiciReading): boolean => !isWhole(ours) && theirs.whole;
const onlyTheyRefuse = (ours: Reading, theirs: UndiciReading): boolean => isWhole(ours) && !theirs.whole;
/** We refuse, for what this finds in the bytes. */
const stricter = (why: string, pattern: RegExp): Difference => ({
  why,
  is: (text, ours, theirs) => onlyWeRefuse(ours, theirs) && pattern.test(text),
});
const looser = (why: string, pattern: RegExp): Difference => ({
  why,
  is: (text, ours, theirs) => onlyTheyRefuse(ours, theirs) && pattern.test(text),
});

const sorted = (fields: readonly string[]): string =>
  JSON.stringify(fields.map((field) => field.replace(/[\t ]+$/, '')));

export const DIFFERENCES: readonly Difference[] = [
  {
    why: 'blanks behind a value are no part of it (RFC 9110 §5.5); llhttp leaves tabs there',
    is: (_text, ours, theirs) =>
      isWhole(ours) && theirs.whole && ours.body === theirs.body && sorted(ours.fields) === sorted(theirs.fields),
  },
  looser(
    '100 to a request without Expect is passed over like any interim answer (RFC 9110 §15.2); undici fails',
    /HTTP\/1\.[01] 100[ \r]/,
  ),
  {
    why:
      'bytes behind an answer without a body end the connection, not the answer; undici fails when both come in ' +
      'one piece',
    is: (_text, ours, theirs) => ours.outcome === 'surplus' && onlyTheyRefuse(ours, theirs),
  },
  looser(
    'a length on 204 or 304 is none of what comes (RFC 9110 §8.6); undici fails when it does not come',
    /HTTP\/1\.[01] (?:204|304)[^]*content-length/i,
  ),
  stricter('a coding other than chunked cannot be passed on', /transfer-encoding:(?![\t ]*chunked[\t ]*\r\n)/i),
  stricter('HTTP/1.0 has no codings (RFC 9112 §6.1)', /HTTP\/1\.0[^]*transfer-encoding/i),
  stricter('no other version is spoken', /(?:^|\n)(?!HTTP\/1\.[01])[A-Za-z]+\/\d\.\d/),
  stricter('an answer begins with its status line', /^[\r\n]|\r\n\r\n[\r\n]/),
  stricter('one coding, said once', /transfer-encoding[^]*transfer-encoding/i),
  looser('chunk extensions are passed over, however they are spelled', /\r\n[\da-f]+;[^\r\n]*\r\n/i),
  stricter('a length has 15 digits at most: what is longer is no exact number', /content-length:[\t ]*\d{16}/i),
  stricter('a line ends in CRLF, and holds no other CR', /\r[^\n]/),
  stricter('a control character stands nowhere in a head', /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/),
];

/**
 * The class that the difference between two readings belongs to; null when there is none, undefined when nobody knows
 * why.
 */
export function differenceOf(text: string, ours: Reading, theirs: UndiciReading): Difference | null | undefined {
  if (isSame(ours, theirs)) return null;
  return DIFFERENCES.find((difference) => difference.is(text, ours, theirs));
}

function isSame(ours: Reading, theirs: UndiciReading): boolean {
  if (isWhole(ours) !== theirs.whole) return false;
  return (
    !theirs.whole ||
    (ours.status === theirs.status &&
      ours.body === theirs.body &&
      JSON.stringify(ours.fields) === JSON.stringify(theirs.fields))
  );
}
