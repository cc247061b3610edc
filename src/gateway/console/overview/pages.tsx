import { page, type Page } from '../page.js';
import { Overview } from './view.js';

const EVERY_MS = 5_000;

/** How the gateway is now. */
export const OVERVIEW_PAGES: readonly Page[] = [
  page('GET /', 'any', 'Overview', {
    menu: 'Overview',
    serve: (visit) => ({
      live: true,
      content: (
        <>
          <p class="problem" role="status" data-live-state={true} />
          <div data-live="/console/live" data-every-ms={EVERY_MS}>
            <Overview readiness={visit.parts.ready()} />
          </div>
        </>
      ),
    }),
  }),
];
