import type { Shape } from '../accounts/fields.js';

export type Json = Readonly<Record<string, unknown>>;
/** Arguments and options as they were given. */
export type Values = Readonly<Record<string, string | undefined>>;

/**
 * How the command line offers an action. Its options are the fields of the action's query and body, with their
 * descriptions; its description is the action's summary.
 */
export interface Command {
  /**
   * The words, the arguments in the path, and an option that tells this command from others of the same words:
   * `keys rotate <id>`, `bans lift --customer <id>`, `events redeliver [id]`.
   */
  readonly usage: string;
  /** The arguments and options of its example. */
  readonly example: string;
  readonly about?: string;
  /** What it prints. Default: a line for each field of the response. */
  readonly prints?: Prints;
  /** A fixed body, sent instead of options. */
  readonly sends?: Json;
  /** Options that replace the action's own fields. `body` converts them, and throws an Error for wrong usage. */
  readonly instead?: { readonly fields: Shape; readonly body: (given: Json) => Json };
  /** Selects this command among several with the same words and arguments. */
  readonly when?: (given: Values) => boolean;
  /** Applies the action to all of these instead of one `[id]`. */
  readonly bulk?: Bulk;
  /** Text for the end of the help, before the example. */
  readonly help?: string;
}

export interface Bulk {
  /** The option, without dashes. */
  readonly option: string;
  readonly about: string;
  /** Where the admin API lists them: path and query after `/admin/v1/`, and the field with the list. */
  readonly path: string;
  readonly list: string;
  /** Whether that list is paged. */
  readonly isPaged: boolean;
  /** Selects some of them. Default: all. */
  readonly isMeant?: (row: Json) => boolean;
}

/** A column of a table: a field, or a heading with a function of the row. */
export type Column = string | readonly [heading: string, valueOf: (row: Json) => unknown];

export type Prints =
  /** A sentence: `{id}` is the argument of that name. There is no JSON. */
  | { readonly done: string | ((given: Values, answer: Json) => string) }
  /** Any other text. */
  | { readonly text: (answer: Json) => string }
  /** A table, and the text for an empty one. */
  | {
      readonly list: string | ((answer: Json) => readonly Json[]);
      readonly columns: readonly Column[];
      readonly none: string | ((given: Values, answer: Json) => string);
      readonly note?: (answer: Json) => string | null;
    }
  /** The secret that the action issues, then the rest of the response. */
  | { readonly issued: string; readonly note?: (answer: Json) => string | null }
  /** Lines of JSON, each as a sentence. The command fails if one of them has `ok: false`. */
  | { readonly lines: (line: Json) => string; readonly none: string }
  /** The response unchanged, to standard output or a file. */
  | { readonly file: true };

/** A column with the day of a timestamp. */
export function dayIn(name: string): Column {
  return [name, ({ [name]: date }) => (typeof date === 'string' ? date.slice(0, 10) : null)];
}
