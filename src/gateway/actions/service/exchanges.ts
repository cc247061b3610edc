import { StoreUnavailable } from '../../admission/port.js';
import type { Question } from '../../observe/recent/memory.js';
import { refusedElsewhere } from '../../observe/shared-refused.js';
import { mergeRefused } from '../../observe/recent/top-refused.js';
import { exchangeView } from '../../observe/recent/view.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { Answer } from '../answer.js';
import { ofKey } from '../input/query.js';
import { ExchangeList, RefusedList } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { othersNow } from './gateways.js';

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
    handle: async ({ parts }) => ({ json: await topRefused(parts) }),
  }),
  action(`GET ${EXCHANGES}/{id}`, 'read', 'Show the exchanges of one request ID that this gateway remembers', {
    gives: ExchangeList,
    handle: ({ parts, id }) => answerOf(parts, { request: id }),
  }),
];

async function answerOf(parts: AdminParts, question: Question): Promise<Answer> {
  return { json: await recalled(parts, question) };
}

/** Returns what this gateway remembers, with names of keys, and which other gateways may remember more. */
async function recalled({ recall, engine }: AdminParts, question: Question) {
  const { exchanges, silent } = await recall(question);
  const [names, gateways] = await Promise.all([namesOf(engine, exchanges), othersNow(engine)]);
  return {
    exchanges: exchanges.map((exchange) => ({
      ...exchangeView(exchange),
      name: exchange.keyId === null ? null : (names.get(exchange.keyId) ?? null),
    })),
    silentWorkers: silent,
    gateways,
  };
}

async function topRefused({ recall, engine }: AdminParts) {
  const notes = engine.failover?.notes;
  const elsewhere = notes === undefined ? null : orNull(refusedElsewhere(notes, Date.now()));
  const { refused, silent } = await recall({ topRefused: true });
  const rows = mergeRefused([...refused, ...((await elsewhere) ?? [])]).slice(0, MAX_ROWS);
  const [names, gateways] = await Promise.all([namesOf(engine, rows), othersNow(engine)]);
  return {
    refused: rows.map(({ keyId, latest, hour, ...response }) => ({
      key: keyId,
      name: keyId === null ? null : (names.get(keyId) ?? null),
      customer: keyId === null ? null : customerOf(keyId),
      ...response,
      lastFiveMinutes: latest,
      lastHour: hour,
    })),
    silentWorkers: silent,
    gateways,
  };
}

/** Returns the names of these keys. */
async function namesOf(
  { keys }: AdminParts['engine'],
  rows: readonly { readonly keyId: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  await Promise.all(
    [...new Set(rows.flatMap(({ keyId }) => keyId ?? []))].map(async (id) => {
      const record = await orNull(keys.read(id));
      if (record) names.set(id, record.name);
    }),
  );
  return names;
}

/** Resolves with null while the store is unavailable, so that remembered exchanges can still be shown. */
function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  });
}
