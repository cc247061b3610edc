import { readFileSync, writeFileSync } from 'node:fs';
import { LONG } from './files.mjs';

/** How long each file took when it last ran here. */
const MEMORY = 'dist/.test-seconds.json';
/** Of a file that never ran here. */
const LONG_S = 12;
const SHORT_S = 1.5;
const LONGEST_SHOWN = 8;

/** Says how far a run of test files is, how long the rest may take, and at the end where the time went. */
export class Progress {
  #beganMs = performance.now();
  #known = readKnown();
  #total;
  #waitingS;
  #doneS = 0;
  #took = new Map();

  /** @param names all files that run, without their ending, as in `test/gateway/refusal.test` */
  constructor(names) {
    this.#total = names.length;
    this.#waitingS = names.reduce((sum, name) => sum + this.#expected(name), 0);
  }

  /** Notes that `name` took `seconds`; gives the text behind its line: `12 of 425, about 5 min left`. */
  done(name, seconds) {
    this.#took.set(name, seconds);
    this.#waitingS -= this.#expected(name);
    this.#doneS += this.#expected(name);
    if (this.#took.size === this.#total) return `${this.#total} of ${this.#total}`;
    const elapsedS = (performance.now() - this.#beganMs) / 1000;
    return `${this.#took.size} of ${this.#total}, about ${duration((elapsedS * this.#waitingS) / this.#doneS)} left`;
  }

  /** Prints where the time went, and remembers it for the next estimate. */
  end() {
    writeFileSync(MEMORY, JSON.stringify({ ...this.#known, ...Object.fromEntries(this.#took) }));
    const all = sum([...this.#took.values()]);
    const folders = Object.entries(groupByFolder(this.#took))
      .map(([folder, seconds]) => [folder, sum(seconds)])
      .sort(([, a], [, b]) => b - a)
      .map(([folder, seconds]) => `${folder} ${Math.round((100 * seconds) / all)} %`);
    const longest = [...this.#took].sort(([, a], [, b]) => b - a).slice(0, LONGEST_SHOWN);
    console.log(`\nTook ${duration((performance.now() - this.#beganMs) / 1000)}: ${folders.join(', ')}.`);
    console.log(
      `Longest: ${longest.map(([name, seconds]) => `${shortName(name)} ${seconds.toFixed(0)} s`).join(', ')}.`,
    );
  }

  #expected(name) {
    return this.#known[name] ?? (LONG.includes(shortName(name)) ? LONG_S : SHORT_S);
  }
}

const shortName = (name) => name.replace(/^test\//, '').replace(/\.test$/, '');
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

function groupByFolder(took) {
  const groups = {};
  for (const [name, seconds] of took) (groups[name.split('/')[1]] ??= []).push(seconds);
  return groups;
}

function duration(seconds) {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function readKnown() {
  try {
    return JSON.parse(readFileSync(MEMORY, 'utf8'));
  } catch {
    return {};
  }
}
