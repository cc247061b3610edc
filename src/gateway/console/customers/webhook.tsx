import { KeyRefused } from '../../accounts/refused.js';
import { IssuedWebhook, Webhook } from '../../admin/openapi/schemas.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { Notice } from '../../pages/components/notice.js';
import { action, pathOf, type Account } from '../accounts/account.js';
import type { PageAnswer, Visit } from '../page.js';

const API = '/admin/v1/customers/{id}/webhook';

/** Where a customer is notified of events; null for those who may not see it. */
export async function webhookPart(visit: Visit, problems: readonly string[]) {
  const { api, id, guard } = visit;
  if (!api.may(`GET ${API}`)) return null;
  const webhook = await api.ask(Webhook, `GET ${API}`, { id }).catch(orNone);
  const path = pathOf('/customers', id);
  const mayChange = api.may(`PUT ${API}`);
  const sent = sentWith('url', visit.form, problems);
  return (
    <section>
      <h2>Webhook</h2>
      <p>{webhook === null ? 'None: it is notified of nothing.' : `Events are sent to ${webhook.receiver}.`}</p>
      {mayChange && (
        <details open={sent !== undefined}>
          <summary>{webhook === null ? 'Set' : 'Change'}</summary>
          <PostForm action={`${path}/hooked`} guard={guard()} button="Set">
            <TextField name="url" label="Address" type="url" required placeholder="https://…" sent={sent} />
          </PostForm>
        </details>
      )}
      {mayChange && webhook !== null && (
        <PostForm action={`${path}/unhooked`} guard={guard()} button="Remove the webhook" kind="danger" inline />
      )}
    </section>
  );
}

export function webhookActions(customer: Account) {
  return [
    action(customer, {
      name: 'hooked',
      line: `PUT ${API}`,
      title: 'Set a webhook',
      body: ({ form }) => ({ url: form.text('url').trim() }),
      answer: shown,
    }),
    action(customer, { name: 'unhooked', line: `DELETE ${API}`, title: 'Remove a webhook' }),
  ];
}

function shown({ id }: Visit, json: unknown): PageAnswer {
  const { receiver, secret } = IssuedWebhook.parse(json);
  return {
    title: 'Webhook set',
    content: (
      <>
        <p>{`Events are sent to ${receiver}.`}</p>
        {secret !== null && (
          <>
            <Notice level="warn">
              <p>What events are signed with, shown only this once:</p>
            </Notice>
            <pre class="secret">{secret}</pre>
          </>
        )}
        <p>
          <a class="button" href={pathOf('/customers', id)}>
            To the customer
          </a>
        </p>
      </>
    ),
  };
}

function orNone(error: unknown): null {
  if (error instanceof KeyRefused && error.kind === 'no_webhook') return null;
  throw error;
}
