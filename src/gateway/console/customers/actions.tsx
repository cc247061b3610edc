import type { z } from 'zod';
import type { Customer } from '../../admin/openapi/schemas.js';
import { PostForm, TextField } from '../../pages/components/form.js';
import { pathOf } from '../accounts/account.js';
import { BanForm } from '../accounts/ban-form.js';
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
  const guard = visit.guard;
  return (
    <div class="actions">
      {status === 'enabled' ? (
        <PostForm action={`${path}/disabled`} guard={guard()} button="Disable" inline />
      ) : (
        <PostForm action={`${path}/enabled`} guard={guard()} button="Enable" inline />
      )}
      <BanForm action={`${path}/banned`} guard={guard()} problems={problems} />
      <PostForm action={`${path}/lifted`} guard={guard()} button="Lift the bans of its keys" inline />
      <details open={problems.length > 0}>
        <summary>Change</summary>
        <PostForm action={`${path}/changed`} guard={guard()} button="Change">
          <TextField name="name" label="Name" required maxlength={100} value={name} problems={problems} />
          <TextField name="reference" label="Reference" maxlength={100} value={reference} problems={problems} />
          <PlanField visit={visit} plan={plan} problems={problems} />
          <LimitFields problems={problems} />
          <TextField name="note" label="Note" maxlength={1000} value={note} problems={problems} />
        </PostForm>
      </details>
      <details>
        <summary>Close</summary>
        <PostForm
          action={`${path}/closed`}
          guard={guard()}
          button="Close for ever, with all its keys"
          kind="danger"
          inline
        />
      </details>
    </div>
  );
}
