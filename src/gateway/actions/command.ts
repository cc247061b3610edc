import type { Shape } from '../accounts/fields.js';

type Json = Readonly<Record<string, unknown>>;
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
  /** What stands after the words in its example. */
  readonly example: string;
  readonly about?: string;
  /** What is printed of the answer; left out: a line for each field. */
  readonly prints?: Prints;
  /** Sent as it is. Nothing else is sent then. */
  readonly sends?: Json;
  /** Fields in place of the action's own, and what they say in its body. Throws an error for wrong use. */
  readonly instead?: { readonly fields: Shape; readonly body: (given: Json) => Json };
  /** Of several commands with the same words and arguments, this one if true. */
  readonly when?: (given: Values) => boolean;
  /** Works on all of these instead of one `[id]`. */
  readonly bulk?: Bulk;
  /** Ends the help, before the example. */
  readonly help?: string;
}

export interface Bulk {
  /** The option, without dashes. */
  readonly option: string;
  readonly about: string;
  /** The list of the admin API that has them: path and query behind `/admin/v1/`, and its field. */
  readonly path: string;
  readonly list: string;
  /** Whether that list comes in pages. */
  readonly isPaged: boolean;
  /** Which of them; left out: all. */
  readonly isMeant?: (row: Json) => boolean;
}

/** A column of a table: a field, or a heading and what a row has below it. */
export type Column = string | readonly [heading: string, valueOf: (row: Json) => unknown];

export type Prints =
  /** A sentence: `{id}` is the argument of that name. There is no JSON. */
  | { readonly done: string | ((given: Values, answer: Json) => string) }
  /** Any other text. */
  | { readonly text: (answer: Json) => string }
  /** A table, with what is said where it is empty. */
  | {
      readonly list: string | ((answer: Json) => readonly Json[]);
      readonly columns: readonly Column[];
      readonly none: string | ((given: Values, answer: Json) => string);
      readonly note?: (answer: Json) => string | null;
    }
  /** The secret that the action issues, and the rest of the answer. */
  | { readonly issued: string; readonly note?: (answer: Json) => string | null }
  /** Lines of JSON, each as a sentence. The command fails if one of them has `ok: false`. */
  | { readonly lines: (line: Json) => string; readonly none: string }
  /** As it comes, to standard output or into a file. */
  | { readonly file: true };

/** The day of a moment. */
export function dayIn(name: string): Column {
  return [name, ({ [name]: date }) => (typeof date === 'string' ? date.slice(0, 10) : null)];
}
