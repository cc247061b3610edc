/** Where a customer is notified of its keys and limits, beside the operators' webhook. */
export interface Webhook {
  readonly url: string;
  /** One, or two during a rotation, the newest first. */
  readonly secrets: readonly WebhookSecret[];
}

/** What events are signed with, as `whsec_` and base64. It is the customer's too, so that no hash of it would do. */
export interface WebhookSecret {
  readonly secret: string;
  /** When it is no more used; null for never. */
  readonly endsAtMs: number | null;
}
