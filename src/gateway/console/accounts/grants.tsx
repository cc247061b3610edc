import type { z } from 'zod';
import type { Grant } from '../../actions/schemas.js';
import { PostForm, SelectField, sentWith, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';
import { fullNumber } from '../../pages/components/figure.js';
import type { Visit } from '../page.js';
import { action, pathOf, type Account } from './account.js';

interface GrantsParts {
  readonly account: Account;
  readonly visit: Visit;
  readonly grants: readonly z.output<typeof Grant>[];
  readonly problems: readonly string[];
  /** It is revoked or closed: there is nothing to grant it. */
  readonly ended: boolean;
}

/** What is granted beyond the limits for now, with the forms that grant more and take it back. */
export function Grants({ account, visit, grants, problems, ended }: GrantsParts) {
  const sent = sentWith('window', visit.form, problems);
  const path = pathOf(account.path, visit.id);
  const mayChange = !ended && visit.api.may(`POST ${account.api}/grants`);
  return (
    <section>
      <h2>Grants</h2>
      <Table
        caption="Units granted beyond the limits"
        empty="None in force."
        rows={grants}
        columns={[
          { head: 'Window', cell: ({ window }) => window },
          { head: 'Units', number: true, cell: ({ units }) => fullNumber(units) },
          { head: 'Until', cell: ({ until }) => <Moment at={until} /> },
          { head: 'Note', cell: ({ note }) => note },
          { head: 'By', cell: ({ by }) => by },
          {
            head: 'Withdraw',
            cell: ({ id }) =>
              mayChange && (
                <PostForm action={`${path}/grants/${id}/withdrawn`} guard={visit.guard()} button="Withdraw" inline />
              ),
          },
        ]}
      />
      {mayChange && (
        <details open={sent !== undefined}>
          <summary>Grant more of a window</summary>
          <PostForm action={`${path}/granted`} guard={visit.guard()} button="Grant">
            <SelectField
              name="window"
              label="Window"
              choices={['minute', 'day', 'month'].map((value) => ({ value, label: value }))}
              value="day"
              sent={sent}
            />
            <TextField name="units" label="Units" type="number" required sent={sent} />
            <TextField
              name="until"
              label="Until (UTC)"
              hint="Such as 2027-01-31 or 2027-01-31T12:00:00Z."
              required
              sent={sent}
            />
            <TextField name="note" label="Note" maxlength={1000} sent={sent} />
          </PostForm>
        </details>
      )}
    </section>
  );
}

export function grantActions(account: Account) {
  return [
    action(account, {
      name: 'granted',
      line: `POST ${account.api}/grants`,
      title: 'Grant',
      body: ({ form }) => {
        const note = form.given('note');
        const [window, until] = [form.text('window'), form.text('until').trim()];
        return { window, units: Number(form.text('units')), until, ...(note === undefined ? {} : { note }) };
      },
    }),
    action(account, {
      name: 'grants/{part}/withdrawn',
      line: `DELETE ${account.api}/grants/{grant}`,
      title: 'Withdraw a grant',
    }),
  ];
}
