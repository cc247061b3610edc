import { PostForm, TextField, type Guard } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

interface BanFormParts {
  readonly action: string;
  readonly guard: Guard;
  readonly problems: readonly string[];
}

/** Bans a key, or all keys of a customer. */
export function BanForm({ action, guard, problems }: BanFormParts) {
  return (
    <details>
      <summary>Ban</summary>
      <PostForm action={action} guard={guard} button="Ban" kind="danger">
        <TextField name="for" label="For" hint="Such as 5m, 1h, 7d." required value="1h" problems={problems} />
        <TextField
          name="reason"
          label="Reason"
          hint="For the history; the client does not see it."
          problems={problems}
        />
      </PostForm>
    </details>
  );
}

export function banIn(form: Form): Readonly<Record<string, unknown>> {
  return { for: form.text('for').trim(), reason: form.given('reason') ?? null };
}
