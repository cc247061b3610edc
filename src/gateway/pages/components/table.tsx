import type { Child } from '#jsx/jsx-runtime';

interface Column<Row> {
  readonly head: string;
  /** Links to the same rows in another order. */
  readonly sort?: { readonly href: string; readonly now: 'ascending' | 'descending' | 'none' } | undefined;
  /** Right-aligned. */
  readonly number?: boolean;
  readonly cell: (row: Row) => Child;
  /** The cell below the rows. */
  readonly foot?: Child;
}

interface TableParts<Row> {
  /** Shown above the rows, and read by screen readers. */
  readonly caption: string;
  /** The first column is the header of each row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown if there are no rows. */
  readonly empty: string;
}

/** A table that scrolls sideways if it is wider than the page; on a phone, each row is a card. */
export function Table<Row>({ caption, columns, rows, empty }: TableParts<Row>) {
  if (rows.length === 0) return <p class="soft">{empty}</p>;
  const hasFoot = columns.some(({ foot }) => foot !== undefined);
  return (
    <div class="scroll" role="region" aria-label={caption} tabindex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, number, sort }) => (
              <th scope="col" class={classOf(number)} aria-sort={sort?.now}>
                {sort === undefined ? head : <a href={sort.href}>{head}</a>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map((row) => line(columns, ({ cell }) => cell(row)))}</tbody>
        {hasFoot && <tfoot>{line(columns, ({ foot }) => foot)}</tfoot>}
      </table>
    </div>
  );
}

function line<Row>(columns: readonly Column<Row>[], of: (column: Column<Row>) => Child) {
  return (
    <tr>
      {columns.map((column, index) =>
        index === 0 ? (
          <th scope="row" class={classOf(column.number)}>
            {of(column)}
          </th>
        ) : (
          <td class={classOf(column.number)} data-label={column.head}>
            {of(column)}
          </td>
        ),
      )}
    </tr>
  );
}

function classOf(number: boolean | undefined): string | undefined {
  return number === true ? 'number' : undefined;
}
