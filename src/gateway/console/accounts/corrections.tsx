import { CorrectionPage } from '../../actions/schemas.js';
import { fullNumber } from '../../pages/components/figure.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';
import type { Visit } from '../page.js';
import { action, pathOf, type Account } from './account.js';

const LIST = 'GET /admin/v1/usage/corrections';
const CORRECT = 'POST /admin/v1/usage/corrections';

/** What was said of the usage of a key or customer since it was counted; null for those who may not see it. */
export async function correctionsPart(account: Account, visit: Visit, problems: readonly string[]) {
  const { api, id, guard } = visit;
  const sent = sentWith('day', visit.form, problems);
  if (!api.may(LIST)) return null;
  const { corrections, cursor } = await api.ask(CorrectionPage, LIST, { query: whose(account, id) });
  return (
    <section>
      <h2>Corrections</h2>
      <Table
        caption="Added to what was counted, which stays as it is"
        empty="None."
        rows={corrections}
        columns={[
          { head: 'Day', cell: ({ day }) => day },
          { head: 'Of', cell: ({ key, customer }) => <code>{key ?? customer}</code> },
          { head: 'Plan', cell: ({ plan }) => plan },
          { head: 'Units', number: true, cell: ({ units }) => fullNumber(units) },
          { head: 'Requests', number: true, cell: ({ requests }) => fullNumber(requests) },
          { head: 'Reason', cell: ({ reason }) => reason },
          { head: 'By', cell: ({ by }) => by },
          { head: 'When', cell: ({ at }) => <Moment at={at} /> },
        ]}
      />
      {cursor !== null && <p class="hint">There are more: petgate usage corrections.</p>}
      {api.may(CORRECT) && (
        <details open={sent !== undefined}>
          <summary>Correct usage</summary>
          <PostForm action={`${pathOf(account.path, id)}/corrected`} guard={guard()} button="Correct">
            <TextField name="day" label="Day (UTC)" type="date" required sent={sent} />
            <TextField name="units" label="Units" type="number" hint="Below 0: taken away." sent={sent} />
            <TextField name="requests" label="Requests" type="number" sent={sent} />
            <TextField name="plan" label="Plan" hint="Empty: the plan at the end of that day." sent={sent} />
            <TextField name="reason" label="Reason" required maxlength={500} sent={sent} />
          </PostForm>
        </details>
      )}
    </section>
  );
}

export function correctionAction(account: Account) {
  return action(account, {
    name: 'corrected',
    line: CORRECT,
    title: 'Correct usage',
    body: ({ id, form }) => ({
      ...whose(account, id),
      ...Object.fromEntries(['day', 'reason', 'plan'].flatMap((name) => given(name, form.given(name)))),
      ...Object.fromEntries(['units', 'requests'].flatMap((name) => given(name, numberIn(form.given(name))))),
    }),
  });
}

function given<Value>(name: string, value: Value | undefined): readonly (readonly [string, Value])[] {
  return value === undefined ? [] : [[name, value]];
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function whose({ path }: Account, id: string): { readonly key: string } | { readonly customer: string } {
  return path === '/keys' ? { key: id } : { customer: id };
}
