import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { openLedgerStore } from '../admission/engines/open.js';
import { openArchive } from '../archive/open.js';
import { ledgerRows } from '../archive/rows.js';
import { reasonOf } from '../archive/task.js';
import { rowsOfCustomer } from './of-customer.js';
import type { Task } from './task.js';
import { writeReport } from './write.js';

/**
 * A process of its own for one report: takes a Task on standard input, because no command line may hold
 * REDIS_URL, and writes the report to standard output. The gateway's own event loop and memory carry none of it.
 */
const { format, range, settings } = (await json(process.stdin)) as Task;
try {
  const archive = await openArchive(settings);
  const store = openLedgerStore(settings);
  const { from, to, key: keyId, customer } = range;
  // Ids of a customer's keys begin with its own.
  const rows = ledgerRows(store, archive, { from, to, keyId, after: customer });
  const asked = customer === undefined ? rows : rowsOfCustomer(rows, customer);
  await pipeline(writeReport(format, range, asked, store.customers), process.stdout);
  await Promise.all([store.close(), archive?.close()]);
} catch (error) {
  // Whoever asked may have gone; else the gateway reports it.
  process.stderr.write(reasonOf(error), () => process.exit(1));
}
