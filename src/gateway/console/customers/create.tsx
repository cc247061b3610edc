import { Customer } from '../../actions/schemas.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { pathOf } from '../accounts/account.js';
import { changeIn } from '../accounts/change.js';
import { LimitFields } from '../accounts/limits.js';
import { PlanField } from '../accounts/plan-field.js';
import { problemsOf } from '../api.js';
import { CONSOLE, type PageAnswer, type Visit } from '../page.js';

const CREATE = 'POST /admin/v1/customers';

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
        <TextField name="name" label="Name" required maxlength={100} autofocus sent={sent} />
        <PlanField visit={visit} sent={sent} />
        <TextField
          name="reference"
          label="Reference"
          hint="Its id in the billing system."
          maxlength={100}
          sent={sent}
        />
        <details open={problems.length > 0}>
          <summary>Limits, note</summary>
          <LimitFields sent={sent} />
          <TextField name="note" label="Note" maxlength={1000} sent={sent} />
        </details>
      </PostForm>
    </>
  );
}

export async function createCustomer(visit: Visit): Promise<PageAnswer> {
  try {
    const { id } = await visit.api.ask(Customer, CREATE, { body: changeIn(visit) });
    return { to: pathOf('/customers', id) };
  } catch (error) {
    return { content: <NewCustomerForm visit={visit} problems={problemsOf(error)} />, status: 400 };
  }
}
