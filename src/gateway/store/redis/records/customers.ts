import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import type { Raise } from '../ledger/transfer.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { CORRECTED_CUSTOMERS, CUSTOMER_INDEX, customerName, KEY_INDEX } from '../keyspace/names.js';
import { grantsText } from '../admit/grants.js';
import { NO_LIMIT } from '../admit/codes.js';
import { luaLimit } from '../admit/plans.js';
import { recordStoreOn, type Overtaking } from '../../records/record-store.js';
import type { RecordType } from './current.js';
import { RedisRows } from './record-rows.js';

/** Key IDs read per command. */
const IDS_AT_ONCE = 1_000;

/**
 * The hash of a customer has `record` (JSON), `version`, `terms` (what an admission needs of it), `credited`, and
 * `state` and `windows` like a key, with strikes and ban always 0. Version 0.3 also kept a `webhook` here.
 */
const CUSTOMERS: RecordType<CustomerRecord> = {
  index: CUSTOMER_INDEX,
  correctedIndex: CORRECTED_CUSTOMERS,
  nameOf: customerName,
  recordIn: (_id, fields) => {
    const record = fields.get('record');
    return record === undefined ? undefined : (JSON.parse(record) as CustomerRecord);
  },
  fieldsOf: (record) => [
    'version',
    record.version.toString(),
    'terms',
    termsText(record),
    'record',
    JSON.stringify(record),
    ...(record.credited === undefined ? [] : ['credited', record.credited.toString()]),
  ],
  noteField: 'webhook',
};

export function customerStore(
  link: Link,
  replicas: Replicas,
  raise: Raise,
): CustomerStore & Overtaking<CustomerRecord> {
  return {
    ...recordStoreOn(new RedisRows(link, replicas, CUSTOMERS, raise)),
    async keyCount(id) {
      let count = 0;
      for await (const ids of idsIn(link, KEY_INDEX, id, IDS_AT_ONCE)) {
        const own = ids.filter((keyId) => keyId.startsWith(id)).length;
        count += own;
        if (own < ids.length) break;
      }
      return count;
    },
  };
}

/**
 * Returns `<status> <minute> <day> <month>[/<concurrency>][;<grants>] <plan>`; a limit of -1 is unlimited, -2 means
 * none of its own.
 */
function termsText({ status, limits, grants = [], plan }: CustomerRecord): string {
  const flights = limits?.concurrency === undefined ? '' : `/${limits.concurrency}`;
  const more = flights + (grants.length === 0 ? '' : `;${grantsText(grants)}`);
  const [minute, day, month] = [limits?.minute, limits?.day, limits?.month].map((limit) =>
    limit === undefined ? NO_LIMIT : luaLimit(limit),
  );
  return `${status} ${minute} ${day} ${month}${more} ${plan}`;
}
