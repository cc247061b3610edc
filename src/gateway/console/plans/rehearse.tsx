import { PlanRehearsal } from '../../actions/schemas.js';
import { planFileText, readPlanText } from '../../config/load.js';
import { ConfigError, renderProblem } from '../../config/files/problem.js';
import { PostForm, sentWith, TextAreaField, TextField } from '../../pages/components/form.js';
import { Tabs } from '../../pages/components/links.js';
import { Problems } from '../../pages/components/notice.js';
import { addressOf } from '../../pages/components/pager.js';
import { problemsOf } from '../visit/api.js';
import { CONSOLE, type PageAnswer, type Visit } from '../visit/page.js';
import { FigureFields, withFigures, type PlanFigures } from './figures.js';
import { RehearsalView } from './rehearsal.js';

/** The route whose role these pages require. */
export const REHEARSE = 'POST /admin/v1/plans/rehearse';
export const REHEARSAL = `${CONSOLE}/plans/rehearse`;

/** Shows a form with the figures of a plan, or with the whole plans file. */
export function askedForPlans(visit: Visit): PageAnswer {
  const { query, nowMs } = visit;
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const file = planFile();
  const plan = query.has('file') ? undefined : (planIn(file, query.given('plan')) ?? Object.keys(file.plans)[0]);
  return { content: <PlansForm {...{ visit, month, file, plan }} /> };
}

export async function rehearsed(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const [month, known] = [form.text('month'), planFile()];
  const plan = planIn(known, form.given('plan'));
  const file = plan === undefined ? { ...known, text: form.text('plans') } : known;
  const asked = (problems: readonly string[] = []) => <PlansForm {...{ visit, month, file, plan, problems }} />;
  try {
    const text =
      plan === undefined
        ? file.text
        : JSON.stringify({ ...file.plans, [plan]: withFigures(file.plans[plan]!, form) }, null, 1);
    const bytes = oneOf(Buffer.from(JSON.stringify(readPlanText(text, 'plans'))));
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
    return { status: 400, content: asked(problemsIn(error, plan).flatMap((problem) => problem.split('\n'))) };
  }
}

interface PlansFormParts {
  readonly visit: Visit;
  readonly month: string;
  readonly file: PlanFile;
  /** The plan whose figures the form has; undefined: it has the whole file. */
  readonly plan: string | undefined;
  readonly problems?: readonly string[];
}

function PlansForm({ visit, month, file, plan, problems = [] }: PlansFormParts) {
  return (
    <>
      <p>
        Other plans are tried on what the ledger counted in a month: which days and months they would not have held, and
        what would have been owed. Nothing is changed. Minutes and bans are not in a ledger: for these rehearse a log (
        <code>petgate plans rehearse --log</code>).
      </p>
      <Problems problems={problems} says="These plans can’t be rehearsed:" />
      <Tabs
        label="Plans"
        tabs={[
          ...Object.keys(file.plans).map((name) => ({
            ...{ label: name, href: addressOf(REHEARSAL, { plan: name }), isCurrent: name === plan },
          })),
          { label: 'All, as a file', href: addressOf(REHEARSAL, { file: 'true' }), isCurrent: plan === undefined },
        ]}
      />
      <PostForm action={REHEARSAL} guard={visit.guard()} button="Rehearse" kind="main">
        <TextField name="month" label="Month (UTC)" type="month" placeholder="2026-11" required value={month} />
        {plan === undefined ? (
          <TextAreaField
            name="plans"
            label="New plans"
            hint="All plans, as in plans.yaml. Requests keep the plan that they were on."
            rows={24}
            required
            value={file.text}
          />
        ) : (
          <>
            <input type="hidden" name="plan" value={plan} />
            <FigureFields plan={file.plans[plan]!} sent={sentWith('plan', visit.form, problems.map(ofField))} />
          </>
        )}
      </PostForm>
    </>
  );
}

interface PlanFile {
  readonly text: string;
  readonly plans: Readonly<Record<string, PlanFigures>>;
}

/** Returns a file without plans if the files contain an error. */
function planFile(): PlanFile {
  try {
    const text = planFileText(process.env);
    return { text, plans: readPlanText(text, 'plans') as PlanFile['plans'] };
  } catch (error) {
    if (error instanceof ConfigError) return { text: '', plans: {} };
    throw error;
  }
}

/** Returns what is wrong with the plans; with the figures of one, without the lines, which nobody saw. */
function problemsIn(error: unknown, plan: string | undefined): readonly string[] {
  if (!(error instanceof ConfigError)) return problemsOf(error);
  if (plan === undefined) return error.problems.map(renderProblem);
  return error.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
}

/** Turns `free.limits.day: must be …` into a problem of the field `limits.day`. */
const ofField = (problem: string): string => problem.slice(problem.indexOf('.') + 1);

function planIn({ plans }: PlanFile, name = ''): string | undefined {
  return Object.hasOwn(plans, name) ? name : undefined;
}

async function* oneOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  await Promise.resolve();
  yield bytes;
}
