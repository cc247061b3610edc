import { withOrigins } from './origin.mjs';

/** What a failure may print of a value: its beginning and its end. */
const MOST_CHARS = 2_000;

/** Counts assertions and keeps what failed, to be shown at the end. */
export class Tally {
  passed = 0;
  failed = 0;
  #failures = [];

  pass() {
    this.passed += 1;
  }

  /** @param place file and names of the tests around it @param diagnosis tap's fields, when it gave some */
  fail(place, diagnosis) {
    this.failed += 1;
    this.#failures.push({ place, diagnosis });
  }

  /** Something other than an assertion went wrong: a crash, a timeout, a file without tests. */
  fault(place, reason) {
    this.fail([place, reason], undefined);
  }

  /** Prints the failures of one file, so that a log that is cut off later has them. */
  printFile(name) {
    for (const failure of this.#failures) if ([failure.place].flat()[0] === name) printFailure(failure);
  }

  print() {
    for (const failure of this.#failures) printFailure(failure);
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
  }
}

function printFailure({ place, diagnosis }) {
  console.log(`\nFAILED ${[place].flat().map(shortened).join(' > ')}`);
  const text = diagnosis === undefined ? '' : shown(diagnosis);
  if (text !== '') console.log(withOrigins(text).replace(/^/gm, '    '));
}

function shown({ at, diff, found, wanted, stack, source, error, signal, exitCode }) {
  const where = at?.fileName === undefined ? undefined : `at ${at.fileName}:${at.lineNumber}`;
  const values =
    diff === undefined && !(found === undefined && wanted === undefined)
      ? [`found ${text(found)}`, `wanted ${text(wanted)}`]
      : [diff];
  const end = signal ?? exitCode;
  return [where, source?.trimEnd(), ...values, error && text(error), end && `ended with ${end}`, stack]
    .filter(Boolean)
    .map(shortened)
    .join('\n');
}

function shortened(text) {
  if (text.length <= MOST_CHARS) return text;
  return `${text.slice(0, MOST_CHARS / 2)} … ${text.length - MOST_CHARS} characters … ${text.slice(-MOST_CHARS / 2)}`;
}

function text(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
