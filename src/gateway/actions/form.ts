type Json = Readonly<Record<string, unknown>>;

/** How the console offers an action: a form on one of its pages, with the fields of the action's body. */
export interface Form {
  /** The page, and what is done: `/keys/{id}` and `rotated` are sent to `/console/keys/{id}/rotated`. */
  readonly on: string;
  readonly name: string;
  readonly button: string;
  /** What opens it, where it has fields or cannot be undone. Forms that the same words open stand together. */
  readonly opens?: string;
  /** Said afterwards; left out where a secret is shown. */
  readonly done?: string;
  /** It takes something away. */
  readonly isDanger?: true;
  /** It belongs to a table of the page, not to the page as a whole. */
  readonly isApart?: true;
  /** Fields in their order; left out: all of the body. */
  readonly fields?: readonly string[];
  /** What stands in fields at first, where the record does not say. */
  readonly initial?: Readonly<Record<string, string>>;
  /** Sent as it is, instead of fields. */
  readonly sends?: Json;
  /** The field of the body that says of whom it is: the page's own record. */
  readonly subject?: string;
  /** Whether it fits a record in this state; left out: any. */
  readonly isFor?: (record: Json) => boolean;
}
