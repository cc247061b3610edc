import { PlanRehearsal } from '../../actions/schemas.js';
import { planFileText, readPlanText } from '../../config/load.js';
import { ConfigError } from '../../config/files/problem.js';
import { PostForm, TextAreaField, TextField } from '../../pages/components/form.js';
import { Notice } from '../../pages/components/notice.js';
import { problemsOf } from '../api.js';
import { CONSOLE, type PageAnswer, type Visit } from '../page.js';
import { RehearsalView } from './rehearsal.js';

/** The route whose role these pages require. */
export const REHEARSE = 'POST /admin/v1/plans/rehearse';
export const REHEARSAL = `${CONSOLE}/plans/rehearse`;

/** Shows the form, filled with the current plans file. */
export function askedForPlans(visit: Visit): PageAnswer {
  return {
    content: <PlansForm visit={visit} plans={planFile()} month={new Date(visit.nowMs).toISOString().slice(0, 7)} />,
  };
}

export async function rehearsed(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const [plans, month] = [form.text('plans'), form.text('month')];
  const asked = (problems: readonly string[] = []) => <PlansForm {...{ visit, plans, month, problems }} />;
  try {
    const bytes = oneOf(Buffer.from(JSON.stringify(readPlanText(plans, 'plans'))));
    const outcome = await api.ask(PlanRehearsal, REHEARSE, { query: { month }, bytes });
    return {
      content: (
        <>
          <RehearsalView outcome={outcome} />
          <h2>Try others</h2>
          {asked()}
        </>
      ),
    };
  } catch (error) {
    const problems = error instanceof ConfigError ? [error.message] : problemsOf(error);
    return { status: 400, content: asked(problems.flatMap((problem) => problem.split('\n'))) };
  }
}

interface PlansFormParts {
  readonly visit: Visit;
  readonly plans: string;
  readonly month: string;
  readonly problems?: readonly string[];
}

function PlansForm({ visit, plans, month, problems = [] }: PlansFormParts) {
  return (
    <>
      <p>
        Other plans are tried on what the ledger counted in a month: which days and months they would not have held, and
        what would have been owed. Nothing is changed. Minutes and bans are not in a ledger: for these rehearse a log (
        <code>petgate plans rehearse --log</code>).
      </p>
      {problems.length > 0 && (
        <Notice level="danger">
          <p>These plans can’t be rehearsed:</p>
          <ul>
            {problems.map((problem) => (
              <li>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
      <PostForm action={REHEARSAL} guard={visit.guard()} button="Rehearse" kind="main">
        <TextField name="month" label="Month (UTC)" type="month" placeholder="2026-11" required value={month} />
        <TextAreaField
          name="plans"
          label="New plans"
          hint="All plans, as in plans.yaml. Requests keep the plan that they were on."
          rows={24}
          required
          value={plans}
        />
      </PostForm>
    </>
  );
}

/** Returns '' if the files contain an error. */
function planFile(): string {
  try {
    return planFileText(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return '';
    throw error;
  }
}

async function* oneOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  await Promise.resolve();
  yield bytes;
}
