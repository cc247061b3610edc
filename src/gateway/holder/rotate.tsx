import type { KeyRegistry } from '../accounts/keys/registry.js';
import { parseToken } from '../accounts/token.js';
import { LinkButton } from '../pages/components/links.js';
import { Notice } from '../pages/components/notice.js';
import { framed } from './frame.js';
import type { Visitor } from './visitors.js';
import { Moment } from '../pages/components/moment.js';

/** How long the old secret stays valid, ms, by the form's value. */
const OVERLAPS: ReadonlyMap<string, number> = new Map([
  ['24h', 86_400_000],
  ['0s', 0],
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
  const overlapMs = OVERLAPS.get(overlap);
  if (overlapMs === undefined) return null;
  const { record, token } = await registry.rotate(keyId, overlapMs, ACTOR, holding);
  const { secretHash } = parseToken(token, registry.environment, false)!;
  return { token, secretHash, endsAtMs: record.secrets[1]?.endsAtMs ?? null };
}

export function RotateForm({ path, formToken }: { readonly path: string; readonly formToken: string }) {
  return (
    <form method="post" action={`${path}/rotate`} autocomplete="off">
      <input type="hidden" name="form" value={formToken} />
      <button name="overlap" value="24h">
        Replace (your key works 24 h more)
      </button>{' '}
      <button class="danger" name="overlap" value="0s">
        Leaked: end your key now
      </button>
    </form>
  );
}

export function rotatedPage({ path, token, endsAtMs }: { readonly path: string } & Omit<NewKey, 'secretHash'>): string {
  return framed({
    ...{ path, title: 'Your new key', formToken: null },
    children: (
      <>
        <Notice level="warn">Copy it now: it cannot be shown again.</Notice>
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
        <LinkButton href={path} kind="main">
          Back to your key
        </LinkButton>
      </>
    ),
  });
}
