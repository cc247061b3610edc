import { Customer, NewCustomer } from '../../actions/schemas.js';
import { PostForm, sentWith } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { pathOf } from '../accounts/account.js';
import { problemsOf } from '../visit/api.js';
import { bodyIn, Fields } from '../forms/fields.js';
import { fieldsOf } from '../forms/table.js';
import { CONSOLE, type PageAnswer, type Visit } from '../visit/page.js';

const MAIN = fieldsOf(NewCustomer, { fields: ['name', 'plan', 'reference'] });
const MORE = fieldsOf(NewCustomer, { fields: ['limits', 'note'] });

interface NewCustomerParts {
  readonly visit: Visit;
  readonly problems?: readonly string[];
}

export function NewCustomerForm({ visit, problems = [] }: NewCustomerParts) {
  const sent = sentWith('name', visit.form, problems);
  return (
    <>
      <Problems problems={problems} />
      <PostForm action={`${CONSOLE}/customers`} guard={visit.guard()} button="Create" kind="main">
        <Fields {...MAIN} visit={visit} sent={sent} />
        <details open={problems.length > 0}>
          <summary>Limits, note</summary>
          <Fields {...MORE} visit={visit} sent={sent} />
        </details>
      </PostForm>
    </>
  );
}

export async function createCustomer(visit: Visit): Promise<PageAnswer> {
  try {
    const body = bodyIn({ ...MAIN.fields, ...MORE.fields }, visit.form, false);
    const { id } = await visit.api.ask(Customer, 'POST /admin/v1/customers', { body });
    return { to: pathOf('/customers', id) };
  } catch (error) {
    return { content: <NewCustomerForm visit={visit} problems={problemsOf(error)} />, status: 400 };
  }
}
