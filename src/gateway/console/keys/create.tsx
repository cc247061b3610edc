import { IssuedKey, NewKey } from '../../actions/schemas.js';
import { PostForm, sentWith } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { pathOf } from '../accounts/account.js';
import { ShownOnce } from '../forms/shown-once.js';
import { problemsOf } from '../api.js';
import { bodyIn, Fields } from '../forms/fields.js';
import { fieldsOf } from '../forms/table.js';
import { CONSOLE, type PageAnswer, type Visit } from '../page.js';

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

export async function createKey(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const { plan, ...body } = bodyIn({ ...WHOSE.fields, ...MORE.fields }, form, false);
  try {
    // A key of a customer takes its plan, whatever stands in the list.
    const asked = body['customer'] === undefined ? { plan, ...body } : body;
    const { id, key } = await api.ask(IssuedKey, 'POST /admin/v1/keys', { body: asked });
    return { title: 'Key created', content: <ShownOnce secret={key} href={pathOf('/keys', id)} link="Open key" /> };
  } catch (error) {
    return { content: <NewKeyForm visit={visit} problems={problemsOf(error)} />, status: 400 };
  }
}
