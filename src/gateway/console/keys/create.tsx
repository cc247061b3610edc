import type { Handover } from '../../actions/action.js';
import { IssuedKey } from '../../actions/schemas.js';
import type { bodyIn } from '../forms/fields.js';
import { ShownOnce } from '../forms/shown-once.js';
import { pathOf, type PageAnswer, type Visit } from '../visit/page.js';

export const CREATE = 'POST /admin/v1/keys';

/** Shows what a developer needs with a new key. */
function HandedOver({ handover, secret }: { readonly handover: Handover | undefined; readonly secret: string }) {
  if (handover === undefined) return null;
  const { curl, docs, account } = handover;
  return (
    <section>
      <h2>For its developer</h2>
      <p class="hint">Put your public address in place of this gateway’s own, if it has another.</p>
      <pre>{curl(secret)}</pre>
      <ul>
        {docs !== null && (
          <li>
            Reference: <a href={docs}>{docs}</a>
          </li>
        )}
        {account !== null && (
          <li>
            Limits, usage and a new secret: <a href={account}>{account}</a>
          </li>
        )}
      </ul>
    </section>
  );
}

export async function createKey({ api, parts }: Visit, body: ReturnType<typeof bodyIn>): Promise<PageAnswer> {
  const { plan, ...others } = body;
  // A customer's key gets its customer's plan, whichever is selected.
  const asked = others['customer'] === undefined ? { plan, ...others } : others;
  const { id, key, name, plan: its } = await api.ask(IssuedKey, CREATE, { body: asked });
  const content = (
    <ShownOnce secret={key} href={pathOf('/keys', id)} link="Open key">
      <p>
        <bdi>{name}</bdi>, on plan {its}
      </p>
      <HandedOver handover={parts.handover?.()} secret={key} />
    </ShownOnce>
  );
  return { title: 'Key created', live: true, content };
}
