import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../shared/package-root.js';
import { DAY_MS, MAX_LIMIT } from '../../../admission/bucket.js';
import { STATE_MARK } from '../../state.js';
import { ARCHIVED_CHUNK } from '../keyspace/names.js';

/** A Lua script and its name in Redis. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** A script that proves a node can decide, and the arguments of a run that changes nothing. */
export interface Probe {
  readonly script: Script;
  readonly args: readonly string[];
}

/** Values of the names in capitals. */
type Figures = Readonly<Record<string, number | boolean | string>>;

/** Size of the clock that every response begins with. */
export const CLOCK_BYTES = 8;
/** Deadline of a script that is harmless when it runs late. */
export const ANY_TIME = '9000000000000000';

const FOLDER = join(packageRoot, 'src/gateway/store/redis/scripts');
/** Figures that several scripts use. States are binary: numbers as text would cost more than the decision. */
const FIGURES: Figures = { DAY_MS, MAX_LIMIT, STATE_FORMAT: '<ddddI3I3HddI4I4', STATE_MARK, ARCHIVED_CHUNK };

/** Returns the response without the clock; undefined if nothing follows: the call was late and did nothing. */
export function doneIn(answer: Buffer): Buffer | undefined {
  return answer.length > CLOCK_BYTES ? answer.subarray(CLOCK_BYTES) : undefined;
}

/** Returns the script `scripts/<name>.lua`. Its response is the clock, then what it returns, or `1`. */
export function loadScript(name: string, figures: Figures = {}): Script {
  return scriptOf(`local function run()\n${read(name)}end\nreturn pack('<d', clock) .. (run() or '1')\n`, figures);
}

/** Returns the admission script, which begins its response itself. @param plans Lua for `include('plans')` */
export function loadAdmission(figures: Figures, plans: string): Script {
  return scriptOf(read('admission'), figures, { plans });
}

/**
 * Completes a script: replaces names in capitals by `figures`, and each `include('<part>')` by the text of that name,
 * or by the function that `scripts/include/<part>.lua` returns.
 */
function scriptOf(body: string, figures: Figures, texts: Readonly<Record<string, string>> = {}): Script {
  const all = { ...FIGURES, ...figures };
  const fill = (text: string): string =>
    text.replaceAll(/include\('([\w-]+)'\)|'[^'\n]*'|\b(?!KEYS|ARGV)[A-Z][A-Z_]+\b/g, (word, part?: string) => {
      if (part !== undefined) return texts[part] ?? fill(read(`include/${part}`).replace('return ', '').trimEnd());
      if (word.startsWith("'")) return word;
      const value = all[word];
      if (value === undefined) throw new Error(`a script names ${word}: give loadScript its figure`);
      return typeof value === 'string' ? luaString(value) : value.toString();
    });
  const text = fill(read('include/prelude') + body);
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Reads a script without its comment lines. */
function read(name: string): string {
  return readFileSync(join(FOLDER, `${name}.lua`), 'utf8').replaceAll(/^ *--.*\n/gm, '');
}

/** Escapes everything except plain letters, so that no name can end the string. */
export function luaString(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    const letter = String.fromCharCode(byte);
    return /[\w-]/.test(letter) ? letter : `\\${byte.toString().padStart(3, '0')}`;
  });
  return `'${bytes.join('')}'`;
}
