import type { Child } from '#jsx/jsx-runtime';
import { Notice, Problems } from '../../pages/components/notice.js';
import { ShownOnce } from './shown-once.js';
import { problemsOf } from '../visit/api.js';
import { CONSOLE, page, type Page, type PageAnswer, type Visit } from '../visit/page.js';
import { bodyIn } from './fields.js';
import { FORMS, type Offered } from './table.js';

/** Renders a page that has forms. */
type Show = (visit: Visit) => Promise<{ readonly title?: string; readonly content: Child }>;

/** Returns the pages that the forms of actions post to. @param shown the pages that have forms, by path */
export function formPages(shown: Readonly<Record<string, Show>>): readonly Page[] {
  const byPath = new Map(FORMS.map((one) => [`${one.form.on}/${one.form.name}`, one]).reverse() as [string, Offered][]);
  return [...byPath].map(([path, one]) =>
    page(`POST ${path}`, one.line, one.action.summary, { serve: (visit) => done(visit, path, one, shown) }),
  );
}

/** Performs the action of a form and redirects to its page, or shows that page with the problems. */
async function done(
  visit: Visit,
  path: string,
  { line, action, form, fields }: Offered,
  shown: Readonly<Record<string, Show>>,
): Promise<PageAnswer> {
  const { api, part } = visit;
  const here = `${CONSOLE}${form.on.replace('{id}', encodeURIComponent(visit.id))}`;
  const id = form.on.includes('{id}') ? visit.id : visit.form.text('id').trim();
  try {
    const said = form.sends ?? bodyIn(fields, visit.form, action.method === 'PATCH');
    const body = form.subject === undefined ? said : { ...said, [form.subject]: id };
    const answer = await api.answer(line, { id, grant: part, body });
    const json = answer !== undefined && 'json' in answer ? (answer.json as Readonly<Record<string, unknown>>) : {};
    const secret = action.issues === undefined ? undefined : json[action.issues];
    if (typeof secret !== 'string') return { to: `${here}?done=${form.name.split('/').at(-1)!}` };
    return {
      title: form.opens ?? form.button,
      live: true,
      content: <ShownOnce secret={secret} href={here} link="Go back" />,
    };
  } catch (error) {
    const again = { ...visit, on: form.on, posted: path, problems: problemsOf(error) };
    return { ...(await shown[form.on]!(again)), status: 400 };
  }
}

/** Shows whether the form that led to this page succeeded. */
export function Outcome({ visit: { on, query, problems } }: { readonly visit: Visit }) {
  const name = query.text('done');
  const form = FORMS.find(({ form }) => form.on === on && form.name.split('/').at(-1) === name)?.form;
  return (
    <>
      <Problems problems={problems} />
      {form?.done !== undefined && problems.length === 0 && <Notice>{form.done}</Notice>}
    </>
  );
}
