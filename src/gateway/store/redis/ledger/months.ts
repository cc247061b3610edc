import { monthStartMs } from '../../../../shared/utc-month.js';
import { DAY_MS, MAX_LIMIT } from '../../../admission/bucket.js';
import { CUSTOMER_ID_LENGTH, customerOf, payerOf } from '../../records/customer-id.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { storedRows } from './rows.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { CHANGES, customerName, dayName, dayNumber, EXCESS, KEY_INDEX, keyName, ledgerName, MONTHS } from '../names.js';
import { packedState, readStateOf } from '../state.js';

/** Ids of keys looked at in one command. */
const IDS_AT_ONCE = 1_000;

/**
 * What a key, or a customer, has spent of this month is what the ledger says. KEYS: its hash, then the ledgers of today
 * of its keys. ARGV: numbers of today and of the day on which the month began, units of the days before today. Answers 0
 * when it is another day by now.
 */
const BEGIN = scriptOf(`
local units = tonumber(ARGV[4])
if floor(clock / ${DAY_MS}) ~= tonumber(ARGV[2]) then return pack('<d', clock) .. '0' end
if call('HEXISTS', KEYS[1], 'version') == 0 then return pack('<d', clock) .. '1' end
for k = 2, #KEYS do
  local ledger = call('HGETALL', KEYS[k])
  for n = 1, #ledger, 2 do
    local count = string.match(ledger[n], '|(%l+)$')
    if count == 'requests' or count == '${EXCESS}' then units = units + ledger[n + 1] end
  end
end
local raw = call('HGET', KEYS[1], 'state')
${readStateOf('raw')}
used, usedOf = math.min(units, ${MAX_LIMIT}), tonumber(ARGV[3])
call('HSET', KEYS[1], 'state', ${packedState('m', 'mAt', 'd', 'dAt', 'strikes', 'level', 'since', 'banned', 'used', 'usedOf')})
return pack('<d', clock) .. '1'
`);

/**
 * Versions before counted months on some plans only: once, what was spent of the month under way is taken from the ledger.
 * Until that month is over each gateway does so when it starts, for gateways of the version before may have counted
 * meanwhile; it may be done at any time, and again. Beside all else, and at the next call when the store went away.
 */
export function monthsBeginner(link: Link): () => Promise<void> {
  let state: 'due' | 'under way' | 'done' = 'due';
  return async () => {
    if (state !== 'due') return;
    state = 'under way';
    try {
      await beginMonths(link);
      state = 'done';
    } catch (error) {
      state = 'due';
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  };
}

async function beginMonths(link: Link): Promise<void> {
  const today = dayNumber(link.storeMs(CHANGES));
  const first = dayNumber(monthStartMs(today * DAY_MS));
  const begun = (await link.command('get', MONTHS)) as Buffer | null;
  if (begun !== null && Number(begun.toString()) < first) return;
  const isNew = (await link.command('exists', KEY_INDEX)) === 0;
  // In a store without keys they count from the beginning.
  if (!isNew) await takeOver(link, first, today);
  await link.command('set', MONTHS, isNew ? '0' : first.toString(), 'NX');
}

async function takeOver(link: Link, first: number, today: number): Promise<void> {
  /** Units before today by who pays: of keys whose ids begin alike, as those of one customer do. */
  let units = new Map<string, number>();
  let prefix = '';
  const write = async (): Promise<void> => {
    for (const [payer, before] of units) await begin(link, payer, before, first, today);
    units = new Map();
  };
  const days = Array.from({ length: today - first + 1 }, (_, n) => first + n);
  for await (const rows of storedRows(link, days, {})) {
    for (const row of rows) {
      const its = row.key.slice(0, CUSTOMER_ID_LENGTH);
      if (its !== prefix) await write();
      prefix = its;
      const payer = payerOf(row.key);
      units.set(payer, (units.get(payer) ?? 0) + (row.day < dayName(today) ? row.units : 0));
    }
  }
  await write();
}

async function begin(link: Link, payer: string, before: number, first: number, today: number): Promise<void> {
  const isCustomer = payer.length === CUSTOMER_ID_LENGTH;
  const ids = isCustomer ? await keysOf(link, payer) : [payer];
  const names = [isCustomer ? customerName(payer) : keyName(payer), ...ids.map((id) => ledgerName(id, today))];
  const args = [today, first, before].map(String);
  if ((await link.run(BEGIN, names, args)).toString() === '0')
    throw new StoreUnavailable('the day turned meanwhile', { noEffect: true });
}

async function keysOf(link: Link, customerId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const ids of idsIn(link, KEY_INDEX, customerId, IDS_AT_ONCE)) {
    found.push(...ids.filter((id) => customerOf(id) === customerId));
    if (!ids.at(-1)!.startsWith(customerId)) break;
  }
  return found;
}
