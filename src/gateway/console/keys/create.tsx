import type { Handover } from '../../actions/action.js';
import { IssuedKey, NewKey } from '../../actions/schemas.js';
import { PostForm, sentWith } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { pathOf } from '../accounts/account.js';
import { ShownOnce } from '../forms/shown-once.js';
import { problemsOf } from '../visit/api.js';
import { bodyIn, Fields } from '../forms/fields.js';
import { fieldsOf } from '../forms/table.js';
import { CONSOLE, type PageAnswer, type Visit } from '../visit/page.js';

const WHOSE = fieldsOf(NewKey, { fields: ['name', 'customer', 'plan'] });
const MORE = fieldsOf(NewKey, { fields: ['expires', 'scopes', 'limits', 'note'] });

interface NewKeyParts {
  readonly visit: Visit;
  readonly problems?: readonly string[];
}

export function NewKeyForm({ visit, problems = [] }: NewKeyParts) {
  const sent = sentWith('name', visit.form, problems);
  return (
    <>
      <Problems problems={problems} />
      <PostForm action={`${CONSOLE}/keys`} guard={visit.guard()} button="Create" kind="main">
        <Fields {...WHOSE} visit={visit} values={{ customer: visit.query.text('customer') }} sent={sent} />
        <details open={problems.length > 0}>
          <summary>Expiry, scopes, limits, note</summary>
          <Fields {...MORE} visit={visit} sent={sent} />
        </details>
      </PostForm>
    </>
  );
}

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

export async function createKey(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const { plan, ...body } = bodyIn({ ...WHOSE.fields, ...MORE.fields }, form, false);
  try {
    // A customer's key gets its customer's plan, whichever is selected.
    const asked = body['customer'] === undefined ? { plan, ...body } : body;
    const issued = await api.ask(IssuedKey, 'POST /admin/v1/keys', { body: asked });
    const { id, key, name, plan: its } = issued;
    const content = (
      <ShownOnce secret={key} href={pathOf('/keys', id)} link="Open key">
        <p>
          <bdi>{name}</bdi>, on plan {its}
        </p>
        <HandedOver handover={visit.parts.handover?.()} secret={key} />
      </ShownOnce>
    );
    return { title: 'Key created', live: true, content };
  } catch (error) {
    return { content: <NewKeyForm visit={visit} problems={problemsOf(error)} />, status: 400 };
  }
}
