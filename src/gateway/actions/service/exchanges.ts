import type { Question } from '../../observe/recent/memory.js';
import { refusedElsewhere } from '../../observe/shared-refused.js';
import { mergeRefused } from '../../observe/recent/top-refused.js';
import { exchangeView } from '../../observe/recent/view.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { Answer } from '../answer.js';
import { ofKey } from '../input/query.js';
import { ExchangeList, RefusedList } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { orNull, othersNow } from './gateways.js';

const EXCHANGES = '/admin/v1/exchanges';
const MAX_ROWS = 50;

export const EXCHANGE_ACTIONS: readonly Action[] = [
  action(
    `GET ${EXCHANGES}`,
    'read',
    'List the last refused or failed exchanges of one key that this gateway remembers',
    {
      query: ofKey,
      gives: ExchangeList,
      handle: async ({ parts, query }) => answerOf(parts, { key: (await parts.registry.get(query.key)).id }),
    },
  ),
  action('GET /admin/v1/refused', 'read', 'List the keys and addresses that were refused or failed most, by response', {
    gives: RefusedList,
    handle: ({ parts }) => topRefused(parts),
  }),
  action(`GET ${EXCHANGES}/{id}`, 'read', 'Show the exchanges of one request ID that this gateway remembers', {
    gives: ExchangeList,
    handle: ({ parts, id }) => answerOf(parts, { request: id }),
  }),
];

/** Answers with what this gateway remembers, with names of keys, and which other gateways may remember more. */
async function answerOf(parts: AdminParts, question: Question): Promise<Answer> {
  const { exchanges, silent } = await parts.recall(question);
  const { nameOf, ...more } = await around(parts, exchanges, silent);
  return { json: { exchanges: exchanges.map((one) => ({ ...exchangeView(one), name: nameOf(one) })), ...more } };
}

async function topRefused(parts: AdminParts): Promise<Answer> {
  const notes = parts.engine.failover?.notes;
  const elsewhere = notes === undefined ? null : orNull(refusedElsewhere(notes, Date.now()));
  const { refused, silent } = await parts.recall({ topRefused: true });
  const rows = mergeRefused([...refused, ...((await elsewhere) ?? [])]).slice(0, MAX_ROWS);
  const { nameOf, ...more } = await around(parts, rows, silent);
  const shown = rows.map(({ keyId, latest, hour, ...response }) => ({
    ...{ key: keyId, name: nameOf({ keyId }), customer: keyId === null ? null : customerOf(keyId) },
    ...{ ...response, lastFiveMinutes: latest, lastHour: hour },
  }));
  return { json: { refused: shown, ...more } };
}

interface OfKey {
  readonly keyId: string | null;
}

/** Returns the names of the keys in `rows`, and who else may remember more. */
async function around({ engine }: AdminParts, rows: readonly OfKey[], silentWorkers: number) {
  const ids = [...new Set(rows.flatMap(({ keyId }) => keyId ?? []))];
  const [gateways, ...keys] = await Promise.all([othersNow(engine), ...ids.map((id) => orNull(engine.keys.read(id)))]);
  const nameOf = ({ keyId }: OfKey): string | null => keys.find((key) => key?.id === keyId)?.name ?? null;
  return { nameOf, silentWorkers, gateways };
}
