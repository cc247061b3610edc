import type { Json } from './command.js';

/** How the console offers an action: a form on one of its pages, with the fields of the action's body. */
export interface Form {
  /** The page and the last part of the path: `/keys/{id}` and `rotated` make `/console/keys/{id}/rotated`. */
  readonly on: string;
  readonly name: string;
  readonly button: string;
  /** The label that opens it, if it has fields or cannot be undone. Forms with the same label are grouped. */
  readonly opens?: string;
  /** Shown on success. Absent if the action issues a secret. */
  readonly done?: string;
  /** Whether it takes something away. */
  readonly isDanger?: true;
  /** Whether it belongs to a table of the page instead of the page's action bar. */
  readonly isApart?: true;
  /** The fields in order. Default: all fields of the body. */
  readonly fields?: readonly string[];
  /** Initial values of fields that the record does not have. */
  readonly initial?: Readonly<Record<string, string>>;
  /** A fixed body, sent instead of fields. */
  readonly sends?: Json;
  /** The field of the body that takes the ID of the page's record. */
  readonly subject?: string;
  /** Whether it is offered for this record. Default: always. */
  readonly isFor?: (record: Json) => boolean;
}
