/** What differs between keys and customers. */
export interface RecordType<R> {
  /** The sorted set of all ids. */
  readonly index: string;
  /** That of those whose history may have corrections. */
  readonly correctedIndex: string;
  readonly nameOf: (id: string) => string;
  /** The record in the fields of its hash; undefined where there is none. */
  readonly recordIn: (id: string, fields: ReadonlyMap<string, string>) => R | undefined;
  /** Fields and values of the hash. */
  readonly fieldsOf: (record: R) => readonly string[];
  /** The field beside them that moves with a key, and that erasing empties. */
  readonly beside: string;
  /** Puts automatic bans that are still noted in the hash into the history; left out of what is never banned. */
  readonly flush?: (id: string) => Promise<void>;
}
