import type { z } from 'zod';
import type { Customer } from '../../actions/schemas.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { pathOf } from '../accounts/account.js';
import { BAN_FIELD, BanForm } from '../accounts/ban-form.js';
import { LimitFields } from '../accounts/limits.js';
import { PlanField } from '../accounts/plan-field.js';
import type { Visit } from '../page.js';

interface ActionsParts {
  readonly visit: Visit;
  readonly customer: z.output<typeof Customer>;
  readonly problems: readonly string[];
}

/** What may be done with a customer in its state, by those who may. */
export function CustomerActions({ visit, customer, problems }: ActionsParts) {
  const { id, name, reference, plan, note, status } = customer;
  if (!visit.api.may('PATCH /admin/v1/customers/{id}') || status === 'closed') return null;
  const path = pathOf('/customers', id);
  const { guard, form } = visit;
  const [changed, banned] = ['name', BAN_FIELD].map((field) => sentWith(field, form, problems));
  return (
    <div class="actions">
      {status === 'enabled' ? (
        <details>
          <summary>Disable</summary>
          <PostForm
            action={`${path}/disabled`}
            guard={guard()}
            button="Disable, with all its keys"
            kind="danger"
            inline
          />
        </details>
      ) : (
        <PostForm action={`${path}/enabled`} guard={guard()} button="Enable" inline />
      )}
      <BanForm action={`${path}/banned`} guard={guard()} sent={banned} />
      <PostForm action={`${path}/lifted`} guard={guard()} button="Lift the bans of its keys" inline />
      <details open={changed !== undefined}>
        <summary>Change</summary>
        <PostForm action={`${path}/changed`} guard={guard()} button="Change">
          <TextField name="name" label="Name" required maxlength={100} value={name} sent={changed} />
          <TextField name="reference" label="Reference" maxlength={100} value={reference} sent={changed} />
          <PlanField visit={visit} plan={plan} sent={changed} />
          <LimitFields sent={changed} />
          <TextField name="note" label="Note" maxlength={1000} value={note} sent={changed} />
        </PostForm>
      </details>
      <details>
        <summary>Close</summary>
        <PostForm
          action={`${path}/closed`}
          guard={guard()}
          button="Close permanently, with all its keys"
          kind="danger"
          inline
        />
      </details>
    </div>
  );
}
