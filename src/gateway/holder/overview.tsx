import { Notice } from '../pages/components/notice.js';
import { framed } from './frame.js';
import { lengthOf, Moment } from '../pages/components/moment.js';
import { RotateForm } from './rotate.js';
import { Bill } from './overview/bill.js';
import { Customer } from './overview/customer.js';
import { Events } from './overview/events.js';
import { KeyFacts } from './overview/facts.js';
import { Limits } from './overview/limits.js';
import type { Overview } from './overview/read.js';
import { Refusals } from './overview/refusals.js';
import { Samples } from './overview/samples.js';
import { Usage } from './overview/usage.js';

interface OverviewParts {
  readonly path: string;
  readonly formToken: string;
  readonly overview: Overview;
  readonly mayRotate: boolean;
  /** A request to try, by language. */
  readonly samples: ReadonlyMap<string, string>;
}

export function overviewPage({ path, formToken, overview, mayRotate, samples }: OverviewParts): string {
  const { record, customer, events, refusals } = overview;
  return framed({
    ...{ path, title: record.name === '' ? 'Your API key' : record.name, formToken },
    children: (
      <>
        <Ban {...overview} />
        <KeyFacts {...overview} />
        <Limits {...overview} />
        <Bill {...overview} />
        <Usage {...overview} />
        <Refusals {...refusals} />
        {customer !== null && <Customer customer={customer} own={record.id} />}
        <Samples samples={samples} />
        {mayRotate && (
          <section>
            <h2>Replace this key</h2>
            <p>You get a new key of the same name, plan and limits, which is shown once.</p>
            <RotateForm path={path} formToken={formToken} />
          </section>
        )}
        <Events events={events} />
      </>
    ),
  });
}

function Ban({ verdict }: Pick<Overview, 'verdict'>) {
  if (verdict.outcome !== 'banned') return null;
  const { bannedUntilMs, atMs } = verdict;
  return (
    <Notice level="danger">
      This key is banned until <Moment at={bannedUntilMs} />, {lengthOf(bannedUntilMs - atMs)} from now. It went on
      after being refused, or an operator banned it. Requests meanwhile don't make it longer.
    </Notice>
  );
}
