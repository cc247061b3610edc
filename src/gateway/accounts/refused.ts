/**
 * `invalid`: the problems say what to correct. `conflict`: its state forbids it. `correction_exists`, `credit_exists`:
 * another one has its ID. Others: it does not exist.
 */
export type KeyRefusedKind =
  | 'invalid'
  | 'not_found'
  | 'no_customer'
  | 'no_grant'
  | 'conflict'
  | 'correction_exists'
  | 'credit_exists';

/** The registry refused; nothing was changed. `problems` are messages for people, never with a secret. */
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
