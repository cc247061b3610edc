import { StoreUnavailable } from '../../admission/port.js';
import type { Question } from '../../observe/recent/memory.js';
import { exchangeView } from '../../observe/recent/view.js';
import { isoOrNull } from '../../accounts/edits.js';
import type { Answer } from '../answer.js';
import { ofKey } from '../input/query.js';
import { ExchangeList } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';

const EXCHANGES = '/admin/v1/exchanges';

export const EXCHANGE_ROUTES: readonly Route[] = [
  route(`GET ${EXCHANGES}`, 'read', 'The last refused or failed exchanges of one key that this gateway remembers', {
    query: ofKey,
    gives: ExchangeList,
    handle: async ({ parts, query }) => answerOf(parts, { key: (await parts.registry.get(query.key)).id }),
  }),
  route(`GET ${EXCHANGES}/{id}`, 'read', 'The exchanges of one request id that this gateway remembers', {
    gives: ExchangeList,
    handle: ({ parts, id }) => answerOf(parts, { request: id }),
  }),
];

async function answerOf(parts: AdminParts, question: Question): Promise<Answer> {
  return { json: await recalled(parts, question) };
}

/** What this gateway remembers, with the names of keys, and who else may remember something. */
async function recalled({ recall, engine }: AdminParts, question: Question) {
  const { exchanges, silent } = await recall(question);
  const ids = [...new Set(exchanges.flatMap(({ keyId }) => keyId ?? []))];
  const [names, gateways] = await Promise.all([namesOf(engine, ids), othersOf(engine)]);
  return {
    exchanges: exchanges.map((exchange) => ({
      ...exchangeView(exchange),
      name: exchange.keyId === null ? null : (names.get(exchange.keyId) ?? null),
    })),
    silentWorkers: silent,
    gateways,
  };
}

async function namesOf({ keys }: AdminParts['engine'], ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  await Promise.all(
    ids.map(async (id) => {
      const record = await orElse(keys.read(id), undefined);
      if (record !== undefined) names.set(id, record.name);
    }),
  );
  return names;
}

/** The other gateways, each with its own memory; null where the store doesn't say. */
async function othersOf({ failover, name }: AdminParts['engine']): Promise<readonly object[] | null> {
  if (name === 'embedded') return [];
  const others = failover === undefined ? null : await orElse(failover.others(), null);
  return others?.map(({ gateway, host, seenMs }) => ({ gateway, host, seen: isoOrNull(seenMs) })) ?? null;
}

/** What is remembered is shown while the store is unavailable too. */
async function orElse<T, Other>(asked: Promise<T>, otherwise: Other): Promise<T | Other> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StoreUnavailable) return otherwise;
    throw error;
  }
}
