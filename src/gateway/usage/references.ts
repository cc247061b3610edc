import { CUSTOMER_ID_LENGTH } from '../store/records/customer-id.js';
import type { CustomerRecord } from '../store/records/customer.js';
import type { ReportRow } from './groups.js';

/** Customers with an id after the first, by id, so many at most. */
export type CustomerPages = (afterId: string | null, count: number) => Promise<readonly CustomerRecord[]>;

const AT_ONCE = 500;

/** The references of a report's customers. Both come in the order of ids: one page of customers is held at a time. */
export class References {
  readonly #pages: CustomerPages;
  #page = new Map<string, string>();
  #last = '';
  #ended = false;

  constructor(pages: CustomerPages) {
    this.#pages = pages;
  }

  /** The rows with the reference of their customer, if any. Rows must come in the order of customers' ids. */
  async added(rows: readonly ReportRow[]): Promise<readonly ReportRow[]> {
    const found: ReportRow[] = [];
    for (const row of rows) {
      const id = row.customer;
      if (id?.length !== CUSTOMER_ID_LENGTH) found.push(row);
      else found.push({ ...row, reference: await this.#of(id) });
    }
    return found;
  }

  async #of(id: string): Promise<string> {
    while (id > this.#last && !this.#ended) {
      const page = await this.#pages(this.#last === '' ? null : this.#last, AT_ONCE);
      this.#page = new Map(page.map((customer) => [customer.id, customer.reference]));
      this.#last = page.at(-1)?.id ?? this.#last;
      this.#ended = page.length < AT_ONCE;
    }
    return this.#page.get(id) ?? '';
  }
}
