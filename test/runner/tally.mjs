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

  print() {
    for (const { place, diagnosis } of this.#failures) {
      console.log(`\nFAILED ${[place].flat().join(' > ')}`);
      const text = diagnosis === undefined ? '' : shown(diagnosis);
      if (text !== '') console.log(text.replace(/^/gm, '    '));
    }
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
  }
}

function shown({ at, diff, found, wanted, stack, source, error, signal, exitCode }) {
  const where = at?.fileName === undefined ? undefined : `at ${at.fileName}:${at.lineNumber}`;
  const values = diff ?? (found === undefined && wanted === undefined ? undefined : `found ${text(found)}\nwanted ${text(wanted)}`);
  const end = signal ?? exitCode;
  return [where, source?.trimEnd(), values, error && text(error), end && `ended with ${end}`, stack].filter(Boolean).join('\n');
}

function text(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
