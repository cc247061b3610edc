import { VersionConflict } from '../../port.js';
import type { Limit } from '../../../admission/bucket.js';
import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import type { Webhook } from '../../records/webhook.js';
import { announceChange } from './changes.js';
import { idsIn, pageOf } from '../link/ids.js';
import type { Link } from '../link/link.js';
import { CUSTOMER_INDEX, customerName, historyName, KEY_INDEX } from '../names.js';
import type { Replicas } from '../link/replicas.js';
import { readHistory, rewrite } from './history.js';
import { scriptOf } from '../link/script.js';
import { grantsText } from '../scripts/grants.js';
import { NO_LIMIT_OF_ITS_OWN } from '../scripts/summary.js';

/** Ids of keys looked at in one command. */
const IDS_AT_ONCE = 1_000;

/**
 * KEYS: the customer and its history. ARGV: version to be replaced (0: absent), audit entry, then fields and values.
 * Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
if (call('HGET', KEYS[1], 'version') or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], spread(ARGV, 4))
call('RPUSH', KEYS[2], ARGV[3])
return pack('<d', clock) .. '1'
`);

/**
 * The hash of a customer: `record` and `webhook` (JSON), `version`, `terms` (what an admission needs of it, admission/customer.ts),
 * and beside them `state` and `windows` as a key has them, of which strikes and ban stay 0.
 */
export function customerStore(link: Link, replicas: Replicas): CustomerStore {
  const read = async (id: string): Promise<CustomerRecord | undefined> => {
    const stored = (await link.command('hget', customerName(id), 'record')) as Buffer | null;
    return stored === null ? undefined : (JSON.parse(stored.toString()) as CustomerRecord);
  };
  return {
    read,
    confirm: (id) => replicas.confirmed(customerName(id), () => Promise.resolve()),
    async write(record, entry, webhook) {
      const { id, version } = record;
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (version === 1) await link.command('zadd', CUSTOMER_INDEX, '0', id);
      else await announceChange(link, id);
      const args = [
        (version - 1).toString(),
        JSON.stringify(entry),
        ...fieldsOf(record),
        ...(webhook === undefined ? [] : webhookField(webhook)),
      ];
      const written = await replicas.confirmed(
        customerName(id),
        async () => (await link.run(WRITE, [customerName(id), historyName(id)], args)).toString() === '1',
      );
      if (!written) throw new VersionConflict(`customer ${id} was changed by somebody else, or exists already`);
    },
    async rewrite(record, history) {
      const { id, version } = record;
      await announceChange(link, id);
      const written = await replicas.confirmed(customerName(id), () =>
        rewrite(
          link,
          [customerName(id), historyName(id)],
          version,
          [...fieldsOf(record), ...webhookField(null)],
          history,
        ),
      );
      if (!written) throw new VersionConflict(`customer ${id} was changed by somebody else`);
    },
    async webhook(id) {
      const stored = (await link.command('hget', customerName(id), 'webhook')) as Buffer | null;
      return stored === null || stored.length === 0 ? undefined : (JSON.parse(stored.toString()) as Webhook);
    },
    page: (afterId, count) => pageOf(link, CUSTOMER_INDEX, afterId, count, read),
    history: (id) => readHistory(link, id),
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

function fieldsOf(record: CustomerRecord): readonly string[] {
  return ['version', record.version.toString(), 'terms', termsText(record), 'record', JSON.stringify(record)];
}

/** `<status> <minute> <day> <month>[;<grants>] <plan>`; of the limits -1 is unlimited, -2 none of its own. */
function termsText({ status, limits, grants = [], plan }: CustomerRecord): string {
  const month = ownLimit(limits?.month).toString() + (grants.length === 0 ? '' : `;${grantsText(grants)}`);
  return [status, ownLimit(limits?.minute), ownLimit(limits?.day), month, plan].join(' ');
}

function ownLimit(limit: Limit | undefined): number {
  if (limit === undefined) return NO_LIMIT_OF_ITS_OWN;
  return limit === 'unlimited' ? -1 : limit;
}

function webhookField(webhook: Webhook | null): readonly string[] {
  return ['webhook', webhook === null ? '' : JSON.stringify(webhook)];
}
