import type { z } from 'zod';
import { Event, EventPage } from '../../actions/schemas.js';
import { PostForm, type Guard } from '../../pages/components/form.js';
import { Tabs } from '../../pages/components/links.js';
import { Moment } from '../../pages/components/moment.js';
import { Notice, Problems } from '../../pages/components/notice.js';
import { addressOf, Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import type { Sample } from '../figures/sample.js';
import { problemsOf } from '../visit/api.js';
import { CONSOLE, page, pathOf, type Page, type PageAnswer, type Visit } from '../visit/page.js';

const LIST = 'GET /admin/v1/events';
const REDELIVER = 'POST /admin/v1/events/{id}/redeliver';
const PATH = `${CONSOLE}/events`;
const STATES = ['waiting', 'dead', 'scheduled'] as const;

type OneEvent = z.output<typeof Event>;

/** Undelivered events, and counts of delivery attempts. */
export const EVENT_PAGES: readonly Page[] = [
  page('GET /events', LIST, 'Events', { menu: 'Events', serve: shown }),
  page('POST /events', REDELIVER, 'Events', {
    serve: async (visit) => {
      try {
        await visit.api.ask(Event, REDELIVER, { id: visit.form.text('event') });
        return { to: addressOf(PATH, { state: visit.form.text('state'), done: 'redelivered' }) };
      } catch (error) {
        return shown({ ...visit, problems: problemsOf(error) });
      }
    },
  }),
];

async function shown({ api, query, guard, problems, samples }: Visit): Promise<PageAnswer> {
  const state = query.given('state') ?? 'waiting';
  const cursor = query.given('cursor');
  const { events, cursor: next, enabled } = await api.ask(EventPage, LIST, { query: { state, cursor } });
  const may = api.may(REDELIVER);
  return {
    status: problems.length > 0 ? 409 : 200,
    content: (
      <>
        <Problems problems={problems} />
        {query.given('done') === 'redelivered' && <Notice>It is delivered again now.</Notice>}
        {!enabled && (
          <Notice level="warn">No webhook is configured, so no events are kept: see docs/guides/events.md.</Notice>
        )}
        <Tabs
          label="States"
          tabs={STATES.map((label) => ({
            ...{ label, href: addressOf(PATH, { state: label }), isCurrent: label === state },
          }))}
        />
        <Events {...{ state, events }} guard={may ? guard : null} />
        <Pager path={PATH} query={{ state }} cursor={cursor} next={next} />
        <Attempts figures={(await samples.latest()).series('petgate_event_attempts_total')} />
      </>
    ),
  };
}

interface EventsParts {
  readonly state: string;
  readonly events: readonly OneEvent[];
  /** Null if the visitor may not redeliver. */
  readonly guard: (() => Guard) | null;
}

function Events({ state, events, guard }: EventsParts) {
  return (
    <Table
      caption={`Events: ${state}`}
      empty={`No event is ${state}.`}
      rows={events}
      columns={[
        { head: 'Event', cell: ({ id }) => <code>{id}</code> },
        { head: 'Type', cell: ({ type }) => type },
        { head: 'About', cell: ({ data }) => aboutOf(data) },
        { head: 'Of', cell: ({ time }) => <Moment at={time} /> },
        { head: 'Attempts', number: true, cell: ({ attempts }) => attempts },
        { head: 'Last failure', cell: ({ failure }) => failure },
        {
          head: 'Due',
          cell: ({ due, dead }) =>
            dead === null ? (
              due !== null && <Moment at={due} />
            ) : (
              <>
                dead since <Moment at={dead} />
              </>
            ),
        },
        ...(guard === null
          ? []
          : [
              {
                head: 'Redeliver',
                cell: ({ id }: OneEvent) => (
                  <PostForm action={PATH} guard={guard()} button="Redeliver" inline>
                    <input type="hidden" name="event" value={id} />
                    <input type="hidden" name="state" value={state} />
                  </PostForm>
                ),
              },
            ]),
      ]}
    />
  );
}

/** Links to the key or customer that the event is about. */
function aboutOf({ key, customer }: OneEvent['data']) {
  if (typeof key === 'string') return <a href={pathOf('/keys', key)}>{key}</a>;
  return typeof customer === 'string' && <a href={pathOf('/customers', customer)}>{customer}</a>;
}

/** Counts only: the store does not keep delivered events. */
function Attempts({ figures }: { readonly figures: ReturnType<Sample['series']> }) {
  const types = [...new Set(figures.map(({ labels }) => labels['type'] ?? ''))];
  const count = (type: string, outcome: string): number =>
    figures.find(({ labels }) => labels['type'] === type && labels['outcome'] === outcome)?.value ?? 0;
  return (
    <>
      <h2>Delivered</h2>
      <Table
        caption="Attempts of this gateway since its start"
        empty="This gateway has delivered none."
        rows={types}
        columns={[
          { head: 'Type', cell: (type) => type },
          { head: 'Delivered', number: true, cell: (type) => count(type, 'delivered') },
          { head: 'Failed', number: true, cell: (type) => count(type, 'failed') },
        ]}
      />
    </>
  );
}
