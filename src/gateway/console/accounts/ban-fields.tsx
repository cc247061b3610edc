import { TextField, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

/** Tells a ban from the other forms of a page. */
export const BAN_FIELD = 'for';

export function BanFields({ sent }: { readonly sent: Submitted | undefined }) {
  return (
    <>
      <TextField name={BAN_FIELD} label="For" hint="Such as 5m, 1h, 7d." required value="1h" sent={sent} />
      <TextField name="reason" label="Reason" hint="For the history; the client does not see it." sent={sent} />
    </>
  );
}

export function banIn(form: Form): Readonly<Record<string, unknown>> {
  return { for: form.text(BAN_FIELD).trim(), reason: form.given('reason') ?? null };
}
