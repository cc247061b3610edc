import { ImportRefused } from '../accounts/import/import.js';
import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord } from '../store/records/key.js';
import { AdminRefusal } from './answer.js';
import { readLines } from './input/lines.js';
import { ofKeys, withCheck, withHashes } from './input/query.js';
import { ImportResult } from './openapi/schemas.js';
import { handler } from './route.js';

const JSON_LINES = 'application/x-ndjson';

// Many keys at once, as JSON lines (import/line.ts has the form).

export const importAll = handler({
  query: withCheck,
  streams: true,
  gives: ImportResult,
  handle: async ({ parts, query, bytes, actor }) => {
    const check = query.check === 'true';
    try {
      return { json: await parts.registry.import(readLines(bytes), actor, check) };
    } catch (error) {
      if (!(error instanceof ImportRefused)) throw error;
      const { imported, unchanged } = error.result;
      const sums =
        `${imported} keys were imported, ${unchanged} were here ` + 'already; correct these lines and import again';
      const head = check ? 'Nothing was imported; correct these lines' : sums;
      throw new AdminRefusal(400, 'invalid_import', `${head}:\n${error.message}`);
    }
  },
});

export const exportAll = handler({
  query: { ...ofKeys, ...withHashes },
  gives: [JSON_LINES],
  handle: ({ parts, query: { name: namePrefix, hashes, ...filter } }) => {
    const pages = parts.registry.all({ ...filter, ...(namePrefix === undefined ? {} : { namePrefix }) });
    return { type: JSON_LINES, chunks: exported(pages, hashes === 'true') };
  },
});

async function* exported(pages: AsyncIterable<readonly KeyRecord[]>, hashes: boolean): AsyncGenerator<string, void> {
  for await (const records of pages)
    yield records.map((record) => `${JSON.stringify(lineOf(record, hashes))}\n`).join('');
}

/**
 * A key as the import reads it, null fields left out; of a customer's key, which it can't take, with `customer`.
 * Without its hashes it holds what a listing holds.
 */
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
