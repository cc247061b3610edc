/**
 * Who pays stands in a key's id (docs/decisions/0024-customers.md): the ids of a customer's keys begin with its
 * own, and are longer than those of other keys. So whatever an admission touches is named by the token alone.
 */
export const KEY_ID_LENGTH = 12;
export const CUSTOMER_ID_LENGTH = 8;
export const CUSTOMER_KEY_ID_LENGTH = 14;

/** The customer whose key this is; null of a key without one. */
export function customerOf(keyId: string): string | null {
  return keyId.length === CUSTOMER_KEY_ID_LENGTH ? keyId.slice(0, CUSTOMER_ID_LENGTH) : null;
}

/** Who pays for a key: its customer, else the key itself. */
export function payerOf(keyId: string): string {
  return customerOf(keyId) ?? keyId;
}
