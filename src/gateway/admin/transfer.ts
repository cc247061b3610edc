import { ImportRefused } from '../accounts/import/import.js';
import type { KeyFilter } from '../accounts/listing.js';
import { isCustomerId } from '../accounts/token.js';
import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord } from '../store/records/key.js';
import { AdminRefusal } from './answer.js';
import type { Answer } from './answer.js';
import { readLines } from './input/lines.js';
import { invalidQuery, readChoice } from './input/query.js';
import type { Query } from './input/query.js';
import type { Call, Route } from './route.js';

const JSON_LINES = 'application/x-ndjson';

/** Many keys at once, as JSON lines (import-line.ts has the form). */
export const TRANSFER_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/admin/v1/keys/import',
    summary: 'Imports keys by their hashes, as JSON lines; those that are here already are left alone',
    role: 'keys',
    query: ['check'],
    streams: true,
    gives: [200, 'ImportResult'],
    handle: importAll,
  },
  {
    method: 'GET',
    path: '/admin/v1/keys/export',
    summary: 'Every key as JSON lines',
    role: 'keys',
    query: ['plan', 'status', 'name', 'hashes'],
    gives: [200, [JSON_LINES]],
    handle: exportAll,
  },
];

/** What of `plan`, `status`, `name` (how it begins) and `customer` the query asks for. */
export function readFilter(query: Query): KeyFilter {
  const plan = query.get('plan');
  const status = readChoice(query, 'status', ['enabled', 'disabled', 'revoked']);
  const namePrefix = query.get('name');
  const customer = query.get('customer');
  if (customer !== undefined && !isCustomerId(customer)) throw invalidQuery("customer must be a customer's id.");
  return {
    ...(plan === undefined ? {} : { plan }),
    ...(status === undefined ? {} : { status }),
    ...(namePrefix === undefined ? {} : { namePrefix }),
    ...(customer === undefined ? {} : { customer }),
  };
}

async function importAll({ parts, query, bytes, actor }: Call): Promise<Answer> {
  const check = readChoice(query, 'check', ['true', 'false']) === 'true';
  try {
    return { json: await parts.registry.import(readLines(bytes), actor, check) };
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    const { imported, unchanged } = error.result;
    const sums = `${imported} keys were imported, ${unchanged} were here already; correct these lines and import again`;
    const head = check ? 'Nothing was imported; correct these lines' : sums;
    throw new AdminRefusal(400, 'invalid_import', `${head}:\n${error.message}`);
  }
}

function exportAll({ parts, query }: Call): Answer {
  const hashes = readChoice(query, 'hashes', ['true', 'false']) === 'true';
  return { type: JSON_LINES, chunks: exported(parts.registry.all(readFilter(query)), hashes) };
}

async function* exported(pages: AsyncIterable<readonly KeyRecord[]>, hashes: boolean): AsyncGenerator<string, void> {
  for await (const records of pages)
    yield records.map((record) => `${JSON.stringify(lineOf(record, hashes))}\n`).join('');
}

/** A key as the import reads it, null fields left out; of a customer's key, which it can't take, with `customer`. Without its hashes it tells what a listing tells. */
function lineOf(record: KeyRecord, hashes: boolean): Record<string, unknown> {
  const { id, plan, name, note, status, createdAtMs, expiresAtMs, scopes, limits, secrets } = record;
  const customer = customerOf(id);
  return {
    id,
    ...(customer === null ? {} : { customer }),
    plan,
    name,
    status,
    created: new Date(createdAtMs).toISOString(),
    ...(note === '' ? {} : { note }),
    ...(expiresAtMs === null ? {} : { expires: new Date(expiresAtMs).toISOString() }),
    ...(scopes === null ? {} : { scopes }),
    ...(limits === null ? {} : { limits }),
    ...(hashes && secrets.length > 0
      ? {
          hashes: secrets.map(({ hash, endsAtMs }) =>
            endsAtMs === null ? hash : { hash, ends: new Date(endsAtMs).toISOString() },
          ),
        }
      : {}),
  };
}
