import type { Child } from '#jsx/jsx-runtime';
import { problemsOf } from '../api.js';
import { CONSOLE, page, type Page, type PageAnswer, type Visit } from '../page.js';
import type { Question } from '../api.js';

/** What keys and customers have in common here: a page each, with forms that change them. */
export interface Account {
  /** Below /console, such as `/keys`. */
  readonly path: string;
  /** Of the admin API, such as `/admin/v1/keys/{id}`. */
  readonly api: string;
  /** The page of one. @param problems why nothing came of the form that was sent */
  readonly show: (
    visit: Visit,
    problems: readonly string[],
  ) => Promise<{ readonly title: string; readonly content: Child }>;
}

interface ActionParts {
  /** What of the path stands behind `{id}`. */
  readonly name: string;
  /** The route of the admin API that does it. */
  readonly line: string;
  readonly title: string;
  readonly body?: (visit: Visit) => Question['body'];
  /** What is shown in place of the page, such as a secret that is shown once. */
  readonly answer?: (visit: Visit, json: unknown) => PageAnswer;
}

/** A form of such a page: does its work and leads back to the page, or shows it with what is wrong. */
export function action({ path, show }: Account, { name, line, title, body, answer }: ActionParts): Page {
  return page(`POST ${path}/{id}/${name}`, line, title, {
    serve: async (visit) => {
      const { api, id, part } = visit;
      try {
        const given = await api.answer(line, { id, grant: part, body: body?.(visit) ?? {} });
        if (answer !== undefined) return answer(visit, given !== undefined && 'json' in given ? given.json : null);
        return { to: `${pathOf(path, id)}?done=${name.split('/').at(-1)!}` };
      } catch (error) {
        return { ...(await show(visit, problemsOf(error))), status: 400 };
      }
    },
  });
}

export function pathOf(path: string, id: string): string {
  return `${CONSOLE}${path}/${encodeURIComponent(id)}`;
}
