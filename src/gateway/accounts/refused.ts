/**
 * `invalid`: the problems name what to put right. `conflict`: its state forbids it. `correction_exists`: its id is that
 * of another one. Else: there is none.
 */
export type KeyRefusedKind = 'invalid' | 'not_found' | 'no_customer' | 'no_grant' | 'conflict' | 'correction_exists';

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
