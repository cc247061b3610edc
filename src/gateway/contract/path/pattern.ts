/** Why values cannot be checked against a schema. */
export class Unheld extends Error {}

/** A state of a pattern. If `takes` is null, it consumes nothing, and enters all its `ways` if `at` holds. */
interface State {
  readonly takes: Takes | null;
  readonly at: 'start' | 'end' | null;
  readonly ways: State[];
  /** The last even and the last odd turn in which the state was entered. */
  readonly entered: [number, number];
}
type Takes = (character: string) => boolean;
/** Part of a pattern: returns the state that leads through it to `next`. */
type Part = (next: State) => State;

/** In characters. Also bounds the recursion for nested groups. */
const MAX_LENGTH = 4_000;
/** For all patterns of one schema together. */
export const MAX_STATES = 5_000;
/** For all patterns of one path together: a few milliseconds. Real patterns take a few steps per character. */
const MAX_STEPS = 100_000;
/** Steps left for the current path. */
let stepsLeft = 0;
const SURROGATE = /[\ud800-\udfff]/;
const GROUP = /\((?:\?:|\?<[^=!>]+>)?/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const CLASS = /\.|\\(?:u\{[^}]+\}|u[^{]...|x..|[pP]\{[^}]+\}|c.|[^1-9kbBuxpPc])|\[(?:\\.|[^\\\]])*\]/suy;
const LITERAL = /[^\\[()|*+?.^$]/uy;

/** Returns whether a path fits, in bounded time for any path and schema: what takes too long does not fit. */
export function withinBudget(fits: () => boolean): boolean {
  stepsLeft = MAX_STEPS;
  return fits() && stepsLeft >= 0;
}

/**
 * Compiles a regular expression that runs in bounded time on any input. Unlike RegExp, which backtracks, it follows all
 * alternatives together, character by character (Thompson's automaton). Call the result within `withinBudget`.
 * @param room the number of states still available; it is reduced
 * @throws Unheld if it is not a regular expression, is too large, or uses lookaround or backreferences
 */
export function compilePattern(source: string, room = { states: MAX_STATES }): (text: string) => boolean {
  const matched = createState(null, []);
  const first = new Pattern(source, room).parse()(matched);
  let turn = 0;
  return (text) => {
    const characters = SURROGATE.test(text) ? Array.from(text) : text;
    let states: State[] = [];
    // Skip a turn: the previous call may have marked states as entered for a turn that it never ran.
    turn += 1;
    for (let index = 0; index <= characters.length; index += 1) {
      turn += 1;
      const next: State[] = [];
      // A match may begin at any character. The loop also visits states that are entered while it runs.
      enter(first, turn, states);
      for (const state of states) {
        if (state === matched) return true;
        if ((stepsLeft -= 1) < 0) return false;
        if (state.takes !== null) {
          if (index < characters.length && state.takes(characters[index]!)) enter(state.ways[0]!, turn + 1, next);
        } else if (state.at === null || index === (state.at === 'start' ? 0 : characters.length)) {
          for (const way of state.ways) enter(way, turn, states);
        }
      }
      states = next;
    }
    return false;
  };
}

function enter(state: State, turn: number, states: State[]): void {
  if (state.entered[turn % 2] === turn) return;
  state.entered[turn % 2] = turn;
  states.push(state);
}

function createState(takes: Takes | null, ways: State[], at: State['at'] = null): State {
  return { takes, at, ways, entered: [0, 0] };
}

class Pattern {
  readonly #source: string;
  readonly #flags: string;
  readonly #room: { states: number };
  #at = 0;

  constructor(source: string, room: { states: number }) {
    this.#room = room;
    if (source.length > MAX_LENGTH) throw new Unheld(`${source.slice(0, 100)}… is too long`);
    this.#source = source;
    // JSON Schema requires `u`, but some patterns are only valid without it: [\w-.].
    this.#flags = isRegExp(source, 'u') ? 'u' : '';
    if (this.#flags === '' && !isRegExp(source, '')) throw new Unheld(`${source} is no regular expression`);
  }

  parse(): Part {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : (next) => this.#fork(parts.map((part) => part(next)));
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) parts.push(this.#quantified());
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  #quantified(): Part {
    const part = this.#one();
    const found = this.#token(QUANTIFIER);
    if (found === null) return part;
    const [, sign, min, comma, max] = found;
    if (sign !== undefined) return this.#repeat(part, Number(sign === '+'), sign === '?' ? 1 : Infinity);
    return this.#repeat(part, Number(min), comma === undefined ? Number(min) : max === '' ? Infinity : Number(max));
  }

  #repeat(part: Part, min: number, max: number): Part {
    return (next) => {
      let state = next;
      if (max === Infinity) {
        state = this.#fork([next]);
        state.ways.push(part(state));
      } else {
        for (let time = min; time < max; time += 1) state = this.#fork([next, part(state)]);
      }
      // Each repetition adds a state, so that even many repetitions of an empty part count as too large.
      for (let time = 0; time < min; time += 1) state = this.#fork([part(state)]);
      return state;
    };
  }

  #one(): Part {
    if (this.#token(GROUP) !== null) {
      const inner = this.parse();
      if (!this.#take(')')) this.#refuse();
      return inner;
    }
    if (this.#take('^')) return (next) => this.#state(null, [next], 'start');
    if (this.#take('$')) return (next) => this.#state(null, [next], 'end');
    const takes = this.#character();
    return (next) => this.#state(takes, [next]);
  }

  #character(): Takes {
    const known = this.#token(CLASS)?.[0];
    if (known !== undefined) {
      const one = new RegExp(`^${known}$`, this.#flags);
      const ascii = Array.from({ length: 128 }, (_, code) => one.test(String.fromCharCode(code)));
      return (character) => ascii[character.charCodeAt(0)] ?? one.test(character);
    }
    const literal = this.#token(LITERAL)?.[0] ?? this.#refuse();
    return (character) => character === literal;
  }

  #fork(ways: State[]): State {
    return this.#state(null, ways);
  }

  #state(...state: Parameters<typeof createState>): State {
    if ((this.#room.states -= 1) < 0) throw new Unheld(`${this.#source} is too large`);
    return createState(...state);
  }

  #token(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #take(character: string): boolean {
    const isThere = this.#source[this.#at] === character;
    this.#at += Number(isThere);
    return isThere;
  }

  #refuse(): never {
    throw new Unheld(`${this.#source.slice(this.#at)} in ${this.#source} is not checked here`);
  }
}

function isRegExp(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}
