import { Facts } from '../../pages/components/facts.js';
import { lengthOf, Moment } from '../../pages/components/moment.js';
import type { Overview } from './read.js';

export function KeyFacts({ record, verdict, customer }: Pick<Overview, 'record' | 'verdict' | 'customer'>) {
  const { id, expiresAtMs, scopes, createdAtMs, secrets } = record;
  const old = secrets.find(({ endsAtMs }) => endsAtMs !== null && endsAtMs > verdict.atMs);
  return (
    <Facts
      facts={[
        ['Key ID', <code>{id}</code>],
        ['Plan', verdict.plan],
        ['Customer', customer?.name ?? null],
        ['May do', scopes === null ? 'everything' : scopes.join(', ') || 'nothing that needs a scope'],
        ['Created', <Moment at={createdAtMs} />],
        [
          'Expires',
          expiresAtMs !== null && (
            <>
              <Moment at={expiresAtMs} />, in {lengthOf(expiresAtMs - verdict.atMs)}
            </>
          ),
        ],
        [
          'Old secret',
          old !== undefined && (
            <>
              valid until <Moment at={old.endsAtMs ?? 0} />
            </>
          ),
        ],
      ]}
    />
  );
}
