import type { z } from 'zod';
import type { Key } from '../../actions/schemas.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { pathOf } from '../accounts/account.js';
import { BAN_FIELD, BanForm } from '../accounts/ban-form.js';
import { LimitFields } from '../accounts/limits.js';
import { PlanField } from '../accounts/plan-field.js';
import type { Visit } from '../page.js';

interface ActionsParts {
  readonly visit: Visit;
  readonly keyView: z.output<typeof Key>;
  readonly problems: readonly string[];
}

/** What may be done with a key in its state, by those who may. */
export function KeyActions({
  visit,
  keyView: { id, name, plan, note, status, customer, ban },
  problems,
}: ActionsParts) {
  if (!visit.api.may('PATCH /admin/v1/keys/{id}') || status === 'revoked') return null;
  const path = pathOf('/keys', id);
  const { guard, form } = visit;
  const [changed, banned] = ['name', BAN_FIELD].map((field) => sentWith(field, form, problems));
  return (
    <div class="actions">
      {status === 'enabled' ? (
        <PostForm action={`${path}/disabled`} guard={guard()} button="Disable" inline />
      ) : (
        <PostForm action={`${path}/enabled`} guard={guard()} button="Enable" inline />
      )}
      {ban === null ? (
        <BanForm action={`${path}/banned`} guard={guard()} sent={banned} />
      ) : (
        <PostForm action={`${path}/lifted`} guard={guard()} button="Lift the ban" inline />
      )}
      <details>
        <summary>New secret</summary>
        <PostForm action={`${path}/rotated`} guard={guard()} button="Replace (old secret works 24 h)" inline>
          <input type="hidden" name="overlap" value="24h" />
        </PostForm>
        <PostForm
          action={`${path}/rotated`}
          guard={guard()}
          button="Leaked: end the old secret now"
          kind="danger"
          inline
        >
          <input type="hidden" name="overlap" value="0s" />
        </PostForm>
      </details>
      <details open={changed !== undefined}>
        <summary>Change</summary>
        <PostForm action={`${path}/changed`} guard={guard()} button="Change">
          <TextField name="name" label="Name" required maxlength={100} value={name} sent={changed} />
          {customer === null && <PlanField plan={plan} visit={visit} sent={changed} />}
          {customer === null && <LimitFields sent={changed} />}
          <TextField name="note" label="Note" maxlength={1000} value={note} sent={changed} />
        </PostForm>
      </details>
      <details>
        <summary>Revoke</summary>
        <PostForm action={`${path}/revoked`} guard={guard()} button="Revoke permanently" kind="danger" inline />
      </details>
    </div>
  );
}
