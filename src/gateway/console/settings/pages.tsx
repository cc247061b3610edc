import type { z } from 'zod';
import { GatewayList } from '../../actions/schemas.js';
import { explainSettings } from '../../config/explain.js';
import { ConfigError } from '../../config/files/problem.js';
import { Facts } from '../../pages/components/facts.js';
import { Moment } from '../../pages/components/moment.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { SearchForm, TextField } from '../../pages/components/form.js';
import { Sections } from '../../pages/components/sections.js';
import { Table } from '../../pages/components/table.js';
import { CONSOLE, page, type Page, type Visit } from '../visit/page.js';
import { runbookPath } from '../runbooks/pages.js';

/** Labels of petgate_info, and their names on the page. */
const INFO: Readonly<Record<string, string>> = {
  version: 'Petgate',
  node: 'Node',
  environment: 'Environment',
  settings: 'Settings in force',
  plans: 'Plans in force',
  contract: 'Contract in force',
};
const SETTINGS = `${CONSOLE}/settings`;
const GATEWAYS = 'GET /admin/v1/gateways';
const HASHES = ['version', 'settings', 'plans', 'contract'] as const;
type Gateways = z.output<typeof GatewayList>;
type Gateway = NonNullable<Gateways['others']>[number];
const SINCE = 'petgate_config_loaded_timestamp_seconds';

/** Each setting and its source. Settings contain no secrets; passwords in addresses are masked. */
export const SETTINGS_PAGES: readonly Page[] = [
  page('GET /settings', 'GET /admin/v1/plans', 'Settings', {
    menu: 'Settings',
    serve: async (visit) => ({
      content: (
        <>
          {await Running(visit)}
          <Settings detail={visit.parts.ready().parts['config']?.detail} search={visit.query.given('search')} />
        </>
      ),
    }),
  }),
];

async function Running({ api, samples }: Visit) {
  const sample = await samples.latest();
  const info = sample.series('petgate_info')[0]?.labels ?? {};
  const sinceS = sample.value(SINCE);
  const { others } = await api.ask(GatewayList, GATEWAYS);
  return (
    <>
      <Facts
        facts={[
          ...Object.entries(INFO).map(([label, name]) => [name, <code>{info[label] ?? '–'}</code>] as const),
          ['In force since', sinceS === undefined ? '–' : <Moment at={sinceS * 1000} />],
        ]}
      />
      <h2>Other gateways</h2>
      <Others others={others} />
    </>
  );
}

function Others({ others }: Pick<Gateways, 'others'>) {
  if (others === null) return <p>The store does not say which other gateways there are.</p>;
  const drifted = others.filter(({ differs }) => differs.length > 0);
  return (
    <>
      {drifted.length > 0 && (
        <Notice level="warn">
          {`${drifted.length} of ${others.length} run something else than this one, so responses depend on which `}
          {'gateway is asked. What to do: '}
          <a href={runbookPath('PetgateConfigDiffers')}>PetgateConfigDiffers</a>.
        </Notice>
      )}
      {drifted.length === 0 && others.length > 0 && <p>No differences from this gateway are known.</p>}
      <Table<Gateway>
        caption="Gateways that reported within 15 seconds, and what they run"
        empty="No other gateway reported within 15 seconds."
        rows={others}
        columns={[
          { head: 'Gateway', cell: ({ gateway }) => gateway },
          { head: 'Host', cell: ({ host }) => host },
          { head: 'Last seen', cell: ({ seen }) => <Moment at={seen} /> },
          ...HASHES.map((name) => ({ head: name, cell: (gateway: Gateway) => <Hash gateway={gateway} name={name} /> })),
        ]}
      />
    </>
  );
}

function Hash({ gateway, name }: { readonly gateway: Gateway; readonly name: (typeof HASHES)[number] }) {
  const value = gateway[name];
  if (value === null) return <>not reported</>;
  if (!gateway.differs.includes(name)) return <>same</>;
  return <Badge level="warn">{value}</Badge>;
}

interface SettingsParts {
  readonly detail: string | undefined;
  readonly search: string | undefined;
}

function Settings({ detail, search }: SettingsParts) {
  return (
    <>
      <h2>Each setting, and where it comes from</h2>
      {detail !== undefined && <p class="soft">{`Files and what is in force: ${detail}.`}</p>}
      <SearchForm action={SETTINGS}>
        <TextField name="search" label="Setting, value or source" type="search" value={search} />
      </SearchForm>
      <Explained search={search} />
    </>
  );
}

function Explained({ search = '' }: Pick<SettingsParts, 'search'>) {
  try {
    const settings = explainSettings(process.env).filter(({ path, value, source }) =>
      `${path} ${textOf(value)} ${source}`.toLowerCase().includes(search.toLowerCase()),
    );
    const names = [...new Set(settings.map(sectionOf))];
    if (names.length === 0) return <p class="soft">No matches.</p>;
    return (
      <Sections
        sections={names.map((name) => [
          name,
          <Table
            caption={`Settings: ${name}`}
            empty=""
            rows={settings.filter((one) => sectionOf(one) === name)}
            columns={[
              { head: 'Setting', cell: ({ path }) => <code>{path}</code> },
              { head: 'Value', cell: ({ value }) => <code>{textOf(value)}</code> },
              { head: 'From', cell: ({ source }) => source },
            ]}
          />,
        ])}
      />
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return (
      <Notice level="danger" more={<pre>{error.message}</pre>}>
        The files contain an error, so the previous settings stay in force:
      </Notice>
    );
  }
}

/** Returns `store` for `store.deadline`. */
function sectionOf({ path }: { readonly path: string }): string {
  const [first = '', ...more] = path.split('.');
  return more.length === 0 ? 'general' : first;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
