import { renderToString } from '#jsx/render';
import { addressOf } from '../../pages/components/pager.js';
import { AuditList } from '../../actions/schemas.js';
import { READ_AUDIT } from '../audit/pages.js';
import { CONSOLE, page, type Page, type Visit } from '../visit/page.js';
import { mayReadRefused, readRefused } from './top-refused.js';
import { rangeOf } from './series.js';
import { readNearLimit } from './near-limit.js';
import { Overview } from './view.js';

const CREATE = 'POST /admin/v1/keys';
/** Refresh interval of a visible page. */
const EVERY_MS = 10_000;

/** The overview, and its part that the browser refreshes. */
export const OVERVIEW_PAGES: readonly Page[] = [
  page('GET /', 'any', 'Overview', {
    menu: 'Overview',
    serve: async (visit) => {
      const shown = shownIn(visit);
      return {
        live: true,
        content: (
          <>
            <div class="actions">
              {visit.api.may(CREATE) && (
                <a class="button" href={`${CONSOLE}/keys/new`}>
                  Create a key
                </a>
              )}
              <button hidden type="button" data-live-pause={true}>
                Pause
              </button>
            </div>
            <p class="problem" role="status" data-live-state={true} />
            <div data-live={addressOf('/console/live', shown)} data-every-ms={EVERY_MS}>
              <Overview {...await partsOf(visit, shown)} span={await visit.samples.span()} />
            </div>
          </>
        ),
      };
    },
  }),
  page('GET /live', 'any', 'Overview', {
    unattended: true,
    serve: async (visit) => {
      const shown = shownIn(visit);
      const text = await visit.samples.rendered(audienceOf(visit, shown), async (span) =>
        renderToString(<Overview {...await partsOf(visit, shown)} span={span} />),
      );
      return { type: 'text/html; charset=utf-8', text };
    },
  }),
];

/** Visitors with the same result share one rendering. */
function audienceOf({ api }: Visit, shown: Shown): string {
  return [...Object.values(shown), mayReadRefused(api), api.may(READ_AUDIT)].join();
}

type Shown = ReturnType<typeof shownIn>;

/** Returns the range, and the upstream if it is a known one. */
function shownIn({ query, samples: { history } }: Visit) {
  const upstream = query.given('upstream') ?? '';
  const isKnown = history.stateOf(upstream) !== undefined;
  return { range: rangeOf(query.given('range')), upstream: isKnown ? upstream : undefined };
}

async function partsOf(visit: Visit, shown: Shown) {
  const { api, parts, samples } = visit;
  const nowMs = (await samples.latest()).atMs;
  const points = await samples.history.points(shown.range, nowMs);
  const [refused, near, readiness] = [await readRefused(api), await readNearLimit(visit), parts.ready()];
  const changes = api.may(READ_AUDIT)
    ? (await api.ask(AuditList, READ_AUDIT, { query: { limit: '10' } })).changes
    : null;
  return { refused, near, readiness, changes, history: samples.history, points, ...shown };
}
