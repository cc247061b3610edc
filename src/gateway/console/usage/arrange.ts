import { MONEY } from '../../usage/grouping/money-view.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import type { Form } from '../../pages/form.js';
import { CORRECTED, COUNTS } from '../../store/records/counts.js';

const PER_PAGE = 50;
const FIGURES: ReadonlySet<string> = new Set([...COUNTS, ...CORRECTED, ...MONEY]);

/** The order and page of rows, from the URL. `sort` is a column; `-units` sorts in descending order. */
export interface Arrangement {
  readonly sort: string | null;
  /** From 1 on. */
  readonly page: number;
}

export interface Arranged {
  /** Number of rows on all pages. */
  readonly count: number;
  readonly rows: readonly ReportRow[];
  readonly page: number;
  readonly pages: number;
}

export function arrangementOf(query: Pick<Form, 'given'>): Arrangement {
  const page = Number(query.given('page') ?? '1');
  const sort = query.given('sort') ?? null;
  return {
    sort: sort !== null && /^-?[a-zA-Z]{1,20}$/.test(sort) ? sort : null,
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** Returns the rows of a page, or of the last one if there are fewer. Without `sort`, keeps the report's order. */
export function arrange(rows: readonly ReportRow[], { sort, page: asked }: Arrangement): Arranged {
  const column = (sort ?? '').replace('-', '') as keyof ReportRow;
  const compare = FIGURES.has(column) ? byValue : byText;
  const direction = sort?.startsWith('-') === true ? -1 : 1;
  const sorted = sort === null ? rows : rows.toSorted((one, other) => direction * compare(one[column], other[column]));
  const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  const page = Math.min(asked, pages);
  return { rows: sorted.slice((page - 1) * PER_PAGE, page * PER_PAGE), count: rows.length, page, pages };
}

/** Whether the order depends on what is looked up next to the IDs. */
export function isByName({ sort }: Arrangement): boolean {
  return /^-?(?:name|reference|customerName)$/.test(sort ?? '');
}

/** Compares as numbers: large figures are strings of digits. A missing figure is the smallest. */
function byValue(one: ReportRow[keyof ReportRow], other: ReportRow[keyof ReportRow]): number {
  const [first, second] = [one, other].map((figure) => (figure === undefined ? -Infinity : Number(figure)));
  return first === second ? 0 : first! - second!;
}

function byText(one: ReportRow[keyof ReportRow] = '', other: ReportRow[keyof ReportRow] = ''): number {
  return one === other ? 0 : String(one) < String(other) ? -1 : 1;
}
