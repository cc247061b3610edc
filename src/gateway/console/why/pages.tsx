import type { z } from 'zod';
import { ExchangeList } from '../../actions/schemas.js';
import { Facts } from '../../pages/components/facts.js';
import { Moment } from '../../pages/components/moment.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { SearchForm } from '../../pages/components/form.js';
import { Windows } from '../keys/windows.js';
import { customerNames } from '../accounts/customer-names.js';
import { OtherGateways } from '../visit/other-gateways.js';
import { CONSOLE, page, pathOf, type Page } from '../visit/page.js';

const WHY_ROUTE = 'GET /admin/v1/exchanges/{id}';
const QUESTION =
  'Search for a request by its X-Request-Id, above: every response has one, and so has every line of the access log.';
type Answer = z.output<typeof ExchangeList>;
type Exchange = Answer['exchanges'][number];

export const WHY_PAGES: readonly Page[] = [
  page('GET /why', WHY_ROUTE, 'Why', {
    menu: 'Why',
    serve: async ({ api, query }) => {
      const id = query.given('id');
      if (id === undefined) return { content: <p>{QUESTION}</p> };
      const answer = await api.ask(ExchangeList, WHY_ROUTE, { id });
      const ids = answer.exchanges.map(({ customer }) => customer);
      return { title: `Why ${id}`, content: <Why {...{ id, answer }} names={await customerNames(api, ids)} /> };
    },
  }),
];

/** Searches for a request; every page has it. */
export function WhySearch() {
  return (
    <SearchForm action={`${CONSOLE}/why`} button="Why?">
      <input type="search" name="id" aria-label="Request id" placeholder="Request id" maxlength={200} required />
    </SearchForm>
  );
}

interface WhyParts {
  readonly id: string;
  readonly answer: Answer;
  readonly names: Awaited<ReturnType<typeof customerNames>>;
}

function Why({ id, answer, names }: WhyParts) {
  const { exchanges, silentWorkers, gateways } = answer;
  return (
    <>
      {exchanges.length === 0 && (
        <Notice level="warn">
          {`This gateway does not remember the request ${id}. It keeps the last requests that were refused or `}
          failed, and a few others, since its start.
        </Notice>
      )}
      {exchanges.length > 1 && <p>{`${exchanges.length} requests had this id, which a client may choose.`}</p>}
      {exchanges.map((exchange) => (
        <One exchange={exchange} customerName={names.get(exchange.customer) ?? ''} />
      ))}
      {silentWorkers > 0 && (
        <p class="problem">{`${silentWorkers} processes of this gateway did not respond in time.`}</p>
      )}
      <OtherGateways gateways={gateways} />
    </>
  );
}

function One({ exchange, customerName }: { readonly exchange: Exchange; readonly customerName: string }) {
  const { key, name, customer, windows, status, code, message } = exchange;
  return (
    <section>
      <h2>
        {`${exchange.method} ${exchange.operation}: ${status} `}
        {code !== null && <Badge level="warn">{code}</Badge>}
      </h2>
      {message !== null && <p>{message}</p>}
      <Facts
        facts={[
          [
            'Key',
            key && (
              <a href={`${CONSOLE}/keys/${key}`}>
                {name !== null && <bdi>{name}</bdi>}
                {name === null ? key : ` (${key})`}
              </a>
            ),
          ],
          ['Customer', customer && <a href={pathOf('/customers', customer)}>{customerName}</a>],
          ['Plan', exchange.plan],
          ['Address', exchange.address],
          ['Verdict', verdictOf(exchange)],
          ['Setting', exchange.setting],
          ['Credential', exchange.credential],
          ['Could pass from', exchange.retryAt && <Moment at={exchange.retryAt} />],
          ['Cost', exchange.cost],
          ['Counted', exchange.counted === null ? 'nobody knows' : exchange.counted ? 'yes' : 'no'],
          ['Upstream', exchange.upstream],
          ['Response', exchange.reason],
          ['Decided', exchange.decided && <Moment at={exchange.decided} />],
          ['Ended', <Moment at={exchange.ended} />],
          ['Took', timesOf(exchange)],
          ['Trace', <code>{exchange.trace}</code>],
        ]}
      />
      {windows.length > 0 && <Windows windows={windows} caption="What was left of each window after it" />}
    </section>
  );
}

function timesOf({ ms, admissionMs, upstreamMs }: Exchange): string {
  const [whole, admission, upstream] = [ms, admissionMs, upstreamMs].map((time) => time.toFixed(1));
  return `${whole} ms: admission ${admission} ms, upstream ${upstream} ms`;
}

function verdictOf({ outcome, violated, ban }: Exchange): string | null {
  if (ban !== null) return `banned until ${ban.until}, level ${ban.level}${ban.started ? ', started by it' : ''}`;
  return violated === null ? outcome : `${outcome ?? ''} by the window "${violated}"`;
}
