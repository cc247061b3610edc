/** A longer name would not fit into the stores' fields for an operation's own windows. */
const MAX_BYTES = 200;
const FORM = /^[^\0-\x1f\x7f-\x9f\p{Surrogate}]+$/u;

/** Returns whether `name` may name an operation in ledger, log, metrics and plans. */
export function isOperationName(name: string): boolean {
  return FORM.test(name) && Buffer.byteLength(name) <= MAX_BYTES;
}
