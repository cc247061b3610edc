import type { z } from 'zod';
import { ExchangeList, History, Key, KeyWindows } from '../../actions/schemas.js';
import { fullNumber } from '../../pages/components/figure.js';
import { alike } from '../../observe/recent/alike.js';
import { dayLimit } from '../../pages/components/plot.js';
import { Facts } from '../../pages/components/facts.js';
import { Moment } from '../../pages/components/moment.js';
import { Sections } from '../../pages/components/sections.js';
import { Table } from '../../pages/components/table.js';
import { customerNames } from '../accounts/customer-names.js';
import { correctionsPart } from '../accounts/corrections.js';
import { Grants } from '../accounts/grants.js';
import { HistoryTable } from '../accounts/history.js';
import { limitsText } from '../forms/limits.js';
import { ActionForms } from '../forms/offered.js';
import { Outcome } from '../forms/pages.js';
import { State } from '../accounts/state.js';
import { dailyUsage } from '../accounts/usage.js';
import { CONSOLE, pathOf, type Visit } from '../visit/page.js';
import { Windows } from './windows.js';

const API = '/admin/v1/keys/{id}';
const EXCHANGES = 'GET /admin/v1/exchanges';

export async function showKey(visit: Visit) {
  const { api, id } = visit;
  const key = await api.ask(Key, `GET ${API}`, { id });
  const { windows, used } = await api.ask(KeyWindows, `GET ${API}/windows`, { id });
  const history = await api.ask(History, `GET ${API}/history`, { id });
  const names = await customerNames(api, [key.customer]);
  const limit = dayLimit(windows.map(({ window: name, limit }) => ({ name, limit })));
  return {
    title: `Key ${key.name === '' ? key.id : key.name}`,
    content: (
      <>
        <Outcome visit={visit} />
        <KeyFacts keyView={key} customer={names.get(key.customer)} used={used} />
        <ActionForms visit={visit} record={key} />
        <Sections
          sections={[
            ['Windows', <Windows windows={windows} caption="What is left now" />],
            ['Last refused or failed', await lastRefusals(visit)],
            ['Usage', await dailyUsage(visit, { key: id }, limit)],
            ['Grants', <Grants visit={visit} grants={key.grants} ended={key.status === 'revoked'} />],
            ['Corrections', await correctionsPart('key', visit)],
            ['History', <HistoryTable {...history} />],
          ]}
        />
      </>
    ),
  };
}

interface KeyFactsParts extends Pick<z.output<typeof KeyWindows>, 'used'> {
  readonly keyView: z.output<typeof Key>;
  /** The name of its customer. */
  readonly customer: string | undefined;
}

function KeyFacts({ keyView: key, customer, used }: KeyFactsParts) {
  const { id, state, ban, plan, limits, credited, scopes, note, created, expires, secrets } = key;
  return (
    <Facts
      facts={[
        ['Customer', key.customer && <a href={pathOf('/customers', key.customer)}>{customer}</a>],
        ['State', <State state={state} />],
        ['Ban', ban && <BanText ban={ban} />],
        ['Last use', used ?? 'not in the past 31 days'],
        ['Plan', plan],
        ['Limits', limitsText(limits)],
        ['Credited', credited === undefined ? null : fullNumber(credited)],
        ['Scopes', scopes?.join(', ') ?? 'all'],
        ['Note', note === '' ? null : note],
        ['ID', <code>{id}</code>],
        ['Created', <Moment at={created} />],
        ['Expires', expires === null ? 'never' : <Moment at={expires} />],
        ...secrets.slice(1).map(({ ends }) => ['Previous secret ends', ends && <Moment at={ends} />] as const),
      ]}
    />
  );
}

function BanText({ ban: { until, level, reason, by } }: { readonly ban: NonNullable<z.output<typeof Key>['ban']> }) {
  return (
    <>
      until <Moment at={until} />
      {`, level ${level}, by `}
      <bdi>{by}</bdi>
      {reason !== null && (
        <>
          {': '}
          <bdi>{reason}</bdi>
        </>
      )}
    </>
  );
}

/** Null if the visitor may not see exchanges. */
async function lastRefusals({ api, id }: Visit) {
  if (!api.may(EXCHANGES)) return null;
  const { exchanges } = await api.ask(ExchangeList, EXCHANGES, { query: { key: id } });
  return (
    <Table
      caption="As far as this gateway remembers"
      empty="None is remembered."
      rows={alike(exchanges)}
      columns={[
        { head: 'Status', cell: ([{ status }]) => status },
        { head: 'Code', cell: ([{ code }]) => code },
        { head: 'Operation', cell: ([{ operation }]) => operation },
        { head: 'Times', number: true, cell: (all) => all.length },
        { head: 'Last', cell: ([{ ended }]) => <Moment at={ended} /> },
        {
          head: 'Last request',
          cell: ([{ request }]) => <a href={`${CONSOLE}/why?id=${encodeURIComponent(request)}`}>{request}</a>,
        },
      ]}
    />
  );
}
