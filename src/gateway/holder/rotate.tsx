import type { KeyRegistry } from '../accounts/registry.js';
import { parseToken } from '../accounts/token.js';
import { SelectField } from '../pages/components/form.js';
import { Notice } from '../pages/components/notice.js';
import { framed } from './frame.js';
import type { Visitor } from './visitors.js';
import { Moment } from '../pages/components/moment.js';

/** How long the old secret stays valid, by the form's value. */
const OVERLAPS: ReadonlyMap<string, { readonly ms: number; readonly label: string }> = new Map([
  ['24h', { ms: 86_400_000, label: 'for 24 hours more' }],
  ['1h', { ms: 3_600_000, label: 'for an hour more' }],
  ['7d', { ms: 604_800_000, label: 'for 7 days more' }],
  ['0s', { ms: 0, label: 'not at all: it has leaked' }],
]);

/** The actor in the key's history. */
const ACTOR = 'key holder';

interface NewKey {
  readonly token: string;
  readonly secretHash: string;
  /** When the old secret ends, in Unix ms; null if it already has. */
  readonly endsAtMs: number | null;
}

/** Rotates the key; null for an overlap that the form does not offer. Rejects like `KeyRegistry.rotate`. */
export async function rotate(
  registry: KeyRegistry,
  { keyId, secretHash: holding }: Pick<Visitor, 'keyId' | 'secretHash'>,
  overlap: string,
): Promise<NewKey | null> {
  const chosen = OVERLAPS.get(overlap);
  if (chosen === undefined) return null;
  const { record, token } = await registry.rotate(keyId, chosen.ms, ACTOR, holding);
  const { secretHash } = parseToken(token, registry.environment, false)!;
  return { token, secretHash, endsAtMs: record.secrets[1]?.endsAtMs ?? null };
}

export function RotateForm({ path, formToken }: { readonly path: string; readonly formToken: string }) {
  return (
    <form method="post" action={`${path}/rotate`} autocomplete="off">
      <input type="hidden" name="form" value={formToken} />
      <SelectField
        name="overlap"
        label="The key you have now stays valid"
        hint="Choose longer than you need to deploy the new one."
        choices={[...OVERLAPS].map(([value, { label }]) => ({ value, label }))}
        value="24h"
      />
      <button>Make a new key</button>
    </form>
  );
}

export function rotatedPage({ path, token, endsAtMs }: { readonly path: string } & Omit<NewKey, 'secretHash'>): string {
  return framed({
    ...{ path, title: 'Your new key', formToken: null },
    children: (
      <>
        <Notice level="warn">
          <p>Copy it now: it cannot be shown again.</p>
        </Notice>
        <pre class="secret">{token}</pre>
        <p>
          {endsAtMs === null ? (
            'The old key is no longer valid.'
          ) : (
            <>
              The old key is valid until <Moment at={endsAtMs} />.
            </>
          )}
        </p>
        <p>
          <a class="button main" href={path}>
            Back to your key
          </a>
        </p>
      </>
    ),
  });
}
