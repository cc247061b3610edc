import type { z } from 'zod';
import { PostForm, sentWith } from '../../pages/components/form.js';
import { Problems } from '../../pages/components/notice.js';
import { problemsOf } from '../visit/api.js';
import { CONSOLE, page, type Page, type PageAnswer, type Visit } from '../visit/page.js';
import { bodyIn, Fields } from './fields.js';
import { fieldsOf } from './table.js';

interface CreateParts {
  /** The list that the new record joins, such as `/keys`. */
  readonly path: string;
  /** The route that creates it, and its body. */
  readonly line: string;
  readonly takes: z.ZodType;
  readonly title: string;
  /** The usual fields, and the rest, which opens below `summary`. */
  readonly main: readonly string[];
  readonly more: readonly string[];
  readonly summary: string;
  readonly valuesOf?: (visit: Visit) => Readonly<Record<string, unknown>>;
  readonly create: (visit: Visit, body: ReturnType<typeof bodyIn>) => Promise<PageAnswer>;
}

/** Returns the page with the form that creates a record, and the page that the form posts to. */
export function createPages({ path, line, takes, title, summary, valuesOf, create, ...names }: CreateParts) {
  const [main, more] = [fieldsOf(takes, { fields: names.main }), fieldsOf(takes, { fields: names.more })];
  const formFor = (visit: Visit) => {
    const sent = sentWith('name', visit.form, visit.problems);
    return (
      <>
        <Problems problems={visit.problems} />
        <PostForm action={CONSOLE + path} guard={visit.guard()} button="Create" kind="main">
          <Fields {...main} visit={visit} values={valuesOf?.(visit)} sent={sent} />
          <details open={visit.problems.length > 0}>
            <summary>{summary}</summary>
            <Fields {...more} visit={visit} sent={sent} />
          </details>
        </PostForm>
      </>
    );
  };
  const pages: readonly Page[] = [
    page(`GET ${path}/new`, line, title, { serve: (visit) => ({ content: formFor(visit) }) }),
    page(`POST ${path}`, line, title, {
      serve: async (visit) => {
        try {
          return await create(visit, bodyIn({ ...main.fields, ...more.fields }, visit.form, false));
        } catch (error) {
          return { content: formFor({ ...visit, problems: problemsOf(error) }), status: 400 };
        }
      },
    }),
  ];
  return pages;
}
