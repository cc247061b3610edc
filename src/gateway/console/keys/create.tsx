import { IssuedKey } from '../../actions/schemas.js';
import { CheckFields, PostForm, SelectField, sentWith, TextField } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { pathOf } from '../accounts/account.js';
import { LimitFields, limitsIn } from '../accounts/limits.js';
import { ShownOnce } from '../accounts/shown-once.js';
import { problemsOf } from '../api.js';
import { CONSOLE, type PageAnswer, type Visit } from '../page.js';

interface NewKeyParts {
  readonly visit: Visit;
  readonly problems?: readonly string[];
}

export function NewKeyForm({ visit, problems = [] }: NewKeyParts) {
  const { form, query, parts } = visit;
  const { scopes, openPlans } = parts.registry;
  const sent = sentWith('name', form, problems);
  return (
    <>
      <Problems problems={problems} />
      <PostForm action={`${CONSOLE}/keys`} guard={visit.guard()} button="Create" kind="main">
        <TextField name="name" label="Name" required maxlength={100} autofocus sent={sent} />
        <SelectField
          name="plan"
          label="Plan"
          choices={['', ...openPlans].map((value) => ({ value, label: value || 'the customer’s' }))}
          value={openPlans[0]}
          sent={sent}
        />
        <TextField
          name="customer"
          label="Customer ID"
          hint="A key of a customer shares its plan and limits."
          value={query.text('customer')}
          sent={sent}
        />
        <details open={problems.length > 0}>
          <summary>Expiry, scopes, limits, note</summary>
          <TextField name="expires" label="Expires (UTC)" hint="Such as 2027-01-31; empty for never." sent={sent} />
          {scopes.length > 0 && (
            <CheckFields
              name="scopes"
              label="Scopes"
              hint="None selected: all scopes."
              choices={scopes.map((value) => ({ value, label: value }))}
              sent={sent}
            />
          )}
          <LimitFields sent={sent} />
          <TextField name="note" label="Note" maxlength={1000} sent={sent} />
        </details>
      </PostForm>
    </>
  );
}

export async function createKey(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const body: Record<string, unknown> = { name: form.text('name'), ...limitsIn(form) };
  for (const field of ['customer', 'expires', 'note']) {
    const text = form.given(field);
    if (text !== undefined) body[field] = text;
  }
  // A key of a customer takes its plan, whatever stands in the list.
  if (body['customer'] === undefined) body['plan'] = form.text('plan');
  if (form.has('scopes')) body['scopes'] = form.all('scopes');
  try {
    const issued = await api.ask(IssuedKey, 'POST /admin/v1/keys', { body });
    return { title: 'Key created', content: <Secret issued={issued} /> };
  } catch (error) {
    return { content: <NewKeyForm visit={visit} problems={problemsOf(error)} />, status: 400 };
  }
}

export function Secret({ issued: { id, key } }: { readonly issued: { readonly id: string; readonly key: string } }) {
  return <ShownOnce secret={key} href={pathOf('/keys', id)} link="Open key" />;
}
