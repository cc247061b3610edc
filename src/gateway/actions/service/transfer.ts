import { ImportRefused } from '../../accounts/transfer/import.js';
import { exportStore } from '../../accounts/transfer/store-export.js';
import { importStore } from '../../accounts/transfer/store-import.js';
import { AdminRefusal } from '../answer.js';
import { readLines, STORED_LINE_BYTES } from '../input/lines.js';
import { withCheck } from '../input/query.js';
import { ImportResult, StoreImport } from '../schemas.js';
import { action, type Action } from '../action.js';

const JSON_LINES = 'application/x-ndjson';

/** Import of keys, and export and import of whole stores, as JSON lines (formats: transfer/line.ts, stored.ts). */
export const TRANSFER_ACTIONS: readonly Action[] = [
  action('POST /admin/v1/keys/import', 'keys', 'Import keys by their hashes; existing keys are left alone', {
    query: withCheck,
    streams: true,
    gives: ImportResult,
    handle: async ({ parts, query, bytes, actor }) => {
      const check = query.check === 'true';
      return { json: await parts.registry.import(readLines(bytes), actor, check).catch(refuse('keys', check)) };
    },
  }),
  action('GET /admin/v1/store/export', 'operator', 'Export all that the store keeps, as JSON lines', {
    gives: [JSON_LINES],
    handle: async ({ parts: { engine, registry } }) => ({
      type: JSON_LINES,
      chunks: exportStore(engine, await registry.nowMs()),
    }),
  }),
  action('POST /admin/v1/store/import', 'operator', 'Import an export of a store; what is newer here stays', {
    streams: true,
    gives: StoreImport,
    handle: async ({ parts: { engine }, bytes }) => ({
      json: await importStore(engine, readLines(bytes, STORED_LINE_BYTES)).catch(refuse('records', false)),
    }),
  }),
];

function refuse(what: string, check: boolean): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ImportRefused)) throw error;
    const { imported, unchanged } = error.result;
    const sums = `${imported} ${what} were imported, ${unchanged} were here already`;
    const head = `${check ? 'Nothing was imported' : sums}; correct these lines${check ? '' : ' and import again'}`;
    throw new AdminRefusal(400, 'invalid_import', `${head}:\n${error.message}`);
  };
}
