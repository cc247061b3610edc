/**
 * `invalid`: the problems name what to put right. `not_found`: no such key. `no_customer`: no such customer.
 * `no_grant`: no such grant. `no_webhook`: the customer has none. `conflict`: its state forbids it.
 */
export type KeyRefusedKind = 'invalid' | 'not_found' | 'no_customer' | 'no_grant' | 'no_webhook' | 'conflict';

/** The registry says no; nothing was changed. `problems` are whole sentences for a person, never with a secret. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
  readonly kind: KeyRefusedKind;
  readonly problems: readonly string[];

  constructor(kind: KeyRefusedKind, problems: readonly string[]) {
    super(problems.join('; '));
    this.kind = kind;
    this.problems = problems;
  }
}
