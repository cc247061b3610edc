/**
 * A key's ID names its payer (docs/decisions/0024-customers.md): the IDs of a customer's keys begin with the customer's
 * own, and are longer than others. The token alone therefore names everything that an admission touches.
 */
export const KEY_ID_LENGTH = 12;
export const CUSTOMER_ID_LENGTH = 8;
export const CUSTOMER_KEY_ID_LENGTH = 14;

/** Returns whether it is a customer's ID: IDs of keys are longer. */
export function isCustomer(id: string): boolean {
  return id.length === CUSTOMER_ID_LENGTH;
}

/** The customer of a key; null if it has none. */
export function customerOf(keyId: string): string | null {
  return keyId.length === CUSTOMER_KEY_ID_LENGTH ? keyId.slice(0, CUSTOMER_ID_LENGTH) : null;
}

/** The payer of a key: its customer, or the key itself if it has none. */
export function payerOf(keyId: string): string {
  return customerOf(keyId) ?? keyId;
}
