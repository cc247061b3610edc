import { lengthOf, Moment } from '../moment.js';
import type { Overview } from './read.js';

/** What the key is. */
export function Facts({ record, verdict, customer }: Pick<Overview, 'record' | 'verdict' | 'customer'>) {
  const { id, expiresAtMs, scopes, createdAtMs, secrets } = record;
  const old = secrets.find(({ endsAtMs }) => endsAtMs !== null && endsAtMs > verdict.atMs);
  return (
    <dl class="facts">
      <dt>Key id</dt>
      <dd>
        <code>{id}</code>
      </dd>
      <dt>Plan</dt>
      <dd>{verdict.plan}</dd>
      {customer !== null && <dt>Customer</dt>}
      {customer !== null && <dd>{customer.name}</dd>}
      <dt>May do</dt>
      <dd>{scopes === null ? 'everything' : scopes.join(', ') || 'nothing that needs a scope'}</dd>
      <dt>Made</dt>
      <dd>
        <Moment atMs={createdAtMs} />
      </dd>
      {expiresAtMs !== null && <dt>Expires</dt>}
      {expiresAtMs !== null && (
        <dd>
          <Moment atMs={expiresAtMs} />, in {lengthOf(expiresAtMs - verdict.atMs)}
        </dd>
      )}
      {old !== undefined && <dt>Key before</dt>}
      {old !== undefined && (
        <dd>
          valid until <Moment atMs={old.endsAtMs ?? 0} />
        </dd>
      )}
    </dl>
  );
}
