/**
 * `npm run programs`: real servers with their real clients through the gateway, each with the settings that the table
 * shows. Debian's and npm's packages go into a scratch folder (PROGRAMS_FOLDER, or one in the system's temporary
 * folder); a program whose packages cannot be had is skipped by name. Words on the command line choose programs.
 * What is held to each: its client succeeds, and the ledger has what the access log counted.
 */
import { ensureReady } from '../../src/bootstrap.mjs';
import { DEBIAN } from './debian.mjs';
import { startGateway } from './gateway.mjs';
import { NPM } from './npm.mjs';
import { install, openScratch } from './scratch.mjs';

const wanted = process.argv.slice(2);
const rows = [];
let failed = 0;
await ensureReady();
const scratch = openScratch();
for (const program of [...DEBIAN, ...NPM].filter(
  ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
))
  rows.push(await outcome(program));
console.table(rows);
process.exitCode = failed === 0 ? 0 : 1;

async function outcome(program) {
  const row = { program: program.name, settings: program.settings };
  const missing = install(scratch, program);
  if (missing !== null) return { ...row, result: `skipped: ${missing}` };
  const ends = [];
  const place = scratch.folderFor(program.name);
  try {
    const upstream = await program.serve({ ...place, onEnd: (end) => ends.push(end) });
    const gateway = await startGateway(place, upstream, program.config ?? {});
    ends.push(gateway.stop);
    await program.use({ ...place, ...gateway });
    const { counted, ledger, free } = await gateway.totals();
    const isExact = counted === ledger && counted > 0;
    if (!isExact) failed += 1;
    return { ...row, result: isExact ? 'works' : 'ledger differs', requests: counted, ledger, 'free 401': free };
  } catch (error) {
    failed += 1;
    return { ...row, result: `fails: ${String(error.message).slice(0, 300)}` };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
