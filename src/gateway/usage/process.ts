import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { openLedger } from './archive/open.js';
import { reasonOf } from './archive/task.js';
import { rowsOfCustomer } from './of-customer.js';
import type { Task } from './task.js';
import { writeReport } from './write.js';

/**
 * A process of its own for one report: takes a Task on standard input, because no command line may hold
 * REDIS_URL, and writes the report to standard output. The gateway's own event loop and memory carry none of it.
 */
const { format, range, settings } = (await json(process.stdin)) as Task;
try {
  const ledger = openLedger(settings);
  const { from, to, key: keyId, customer } = range;
  // Ids of a customer's keys begin with its own.
  const rows = ledger.rows({ from, to, keyId, after: customer });
  const asked = customer === undefined ? rows : rowsOfCustomer(rows, customer);
  await pipeline(writeReport(format, range, asked, ledger.customers), process.stdout);
  await ledger.close();
} catch (error) {
  // Whoever asked may have gone; else the gateway reports it.
  process.stderr.write(reasonOf(error), () => process.exit(1));
}
