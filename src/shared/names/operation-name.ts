/** More bytes would not fit into the fields that stores keep of an operation's own windows. */
const MAX_BYTES = 200;
const FORM = /^[^\0-\x1f\x7f-\x9f\p{Surrogate}]+$/u;

/** Whether an operation can be called so, in ledger, log, metrics and plans. */
export function isOperationName(name: string): boolean {
  return FORM.test(name) && Buffer.byteLength(name) <= MAX_BYTES;
}
