import { ImportRefused } from '../../../src/gateway/accounts/transfer/import.js';
import { exportStore } from '../../../src/gateway/accounts/transfer/store-export.js';
import { importStore } from '../../../src/gateway/accounts/transfer/store-import.js';
import { readLines, STORED_LINE_BYTES } from '../../../src/gateway/actions/input/lines.js';
import { pick } from '../chaos/random.js';
import { WrongBill } from './bill.js';
import { copyOf, importInto, maybeLackingDays } from './model.js';
import { serving, type Steps } from './steps.js';
import { agoMs } from './world.js';

export const TRANSFER: Steps = {
  'a store is exported': {
    weight: 3,
    can: serving,
    run: async ({ store, gateways }, { files }, random) => {
      const lines: string[] = [];
      for await (const some of exportStore(pick(gateways, random).engine, agoMs(0))) lines.push(some);
      const isArchived = !lines[0]!.includes('"archive":null');
      files.push({ lines, store: copyOf(store), isArchived });
      return `file ${files.length - 1}, ${lines.length} pages`;
    },
  },
  'a store is imported': {
    weight: 4,
    can: (place, { files, archive }) =>
      serving(place) && files.length > 0 && maybeLackingDays(place.store, archive).length === 0,
    run: async (place, { files, archive }, random) => {
      const n = Math.floor(random() * files.length);
      const { lines, store, isArchived } = files[n]!;
      await place.readHistories();
      if (maybeLackingDays(store, archive).length > 0) return `file ${n} has days that the archive lacks: left out`;
      const result = await importStore(
        pick(place.gateways, random).engine,
        readLines(bytesOf(lines), STORED_LINE_BYTES),
      ).catch((error: unknown) => {
        if (error instanceof ImportRefused) return error;
        throw error;
      });
      const isRefused = result instanceof ImportRefused;
      // An embedded store has no archive: nothing is imported.
      if (isArchived && place.redis === null) {
        if (!isRefused) throw new WrongBill('an embedded store took days that are in an archive');
        return `file ${n}, refused: ${result.message}`;
      }
      const others = importInto(place.store, store, archive);
      if (isRefused && others.length === 0) throw new WrongBill(`the import was refused: ${result.message}`);
      return `file ${n}: ${isRefused ? result.message : JSON.stringify({ ...result, sums: undefined })}`;
    },
  },
};

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Buffer> {
  for (const line of lines) yield await Promise.resolve(Buffer.from(line));
}
