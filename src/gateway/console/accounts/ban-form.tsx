import type { Child } from '#jsx/jsx-runtime';
import { PostForm, TextField, type Guard, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

/** Tells a ban from the other forms of a page. */
export const BAN_FIELD = 'for';

interface BanFormParts {
  readonly action: string;
  readonly guard: Guard;
  readonly sent: Submitted | undefined;
  readonly summary?: string;
  /** Fields that come first. */
  readonly children?: Child;
}

export function BanForm({ action, guard, sent, summary = 'Ban', children }: BanFormParts) {
  return (
    <details open={sent !== undefined}>
      <summary>{summary}</summary>
      <PostForm action={action} guard={guard} button="Ban" kind="danger">
        {children}
        <TextField name={BAN_FIELD} label="For" hint="Such as 5m, 1h, 7d." required value="1h" sent={sent} />
        <TextField name="reason" label="Reason" hint="For the history; the client does not see it." sent={sent} />
      </PostForm>
    </details>
  );
}

export function banIn(form: Form): Readonly<Record<string, unknown>> {
  return { for: form.text(BAN_FIELD).trim(), reason: form.given('reason') ?? null };
}
