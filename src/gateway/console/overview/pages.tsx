import { renderToString } from '#jsx/render';
import { addressOf } from '../../pages/components/pager.js';
import { AuditList } from '../../actions/schemas.js';
import { READ_AUDIT } from '../audit/pages.js';
import { page, type Page, type Visit } from '../page.js';
import { mayReadRefused, readRefused } from './top-refused.js';
import { rangeOf } from './series.js';
import { readNearLimit } from './near-limit.js';
import { Overview } from './view.js';

/** Refresh interval of a visible page. */
const EVERY_MS = 5_000;

/** The overview, and its part that the browser refreshes. */
export const OVERVIEW_PAGES: readonly Page[] = [
  page('GET /', 'any', 'Overview', {
    menu: 'Overview',
    serve: async (visit) => ({
      live: true,
      content: (
        <>
          <button hidden type="button" data-live-pause={true}>
            Pause
          </button>
          <p class="problem" role="status" data-live-state={true} />
          <div data-live={addressOf('/console/live', { range: rangeIn(visit) })} data-every-ms={EVERY_MS}>
            <Overview {...await partsOf(visit)} span={await visit.samples.span()} />
          </div>
        </>
      ),
    }),
  }),
  page('GET /live', 'any', 'Overview', {
    unattended: true,
    serve: async (visit) => ({
      type: 'text/html; charset=utf-8',
      text: await visit.samples.rendered(audienceOf(visit), async (span) =>
        renderToString(<Overview {...await partsOf(visit)} span={span} />),
      ),
    }),
  }),
];

/** Visitors with the same result share one rendering. */
function audienceOf(visit: Visit): string {
  return [rangeIn(visit), mayReadRefused(visit.api), visit.api.may(READ_AUDIT)].join();
}

const rangeIn = ({ query }: Visit) => rangeOf(query.given('range'));

async function partsOf(visit: Visit) {
  const { api, parts, samples } = visit;
  const nowMs = (await samples.latest()).atMs;
  const range = rangeIn(visit);
  const points = await samples.history.points(range, nowMs);
  const [refused, near, readiness] = [await readRefused(api), await readNearLimit(visit), parts.ready()];
  const changes = api.may(READ_AUDIT)
    ? (await api.ask(AuditList, READ_AUDIT, { query: { limit: '10' } })).changes
    : null;
  return { refused, near, readiness, changes, history: samples.history, points, range };
}
