import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createApp } from '../../src/gateway/app.js';
import { openEmbeddedEngine } from '../../src/gateway/admission/engines/embedded/engine.js';
import { loadSettings } from '../../src/gateway/config/load.js';
import { loadContract } from '../../src/gateway/contract/load.js';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { createLog } from '../../src/shared/log.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { temporaryFolder } from '../servers/program.js';

const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');

/** The rows below a heading whose first cell is code, as lists of cells. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(.*)\|$/gm)].map(([row]) => row.split('|').slice(1, -1).map((cell) => cell.trim()));
}

const bare = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

t.test('the README lists the steps of the real pipeline, in order', async (t) => {
  const folder = temporaryFolder(t);
  const settings = loadSettings({ PETGATE_DATA: folder });
  const engine = openEmbeddedEngine({ folder, plans: settings.plans, usageDays: 1, mapBytes: 2 ** 24 });
  const app = createApp({ settings, engine, contract: loadContract(), internalToken: 'x', log: createLog('test', 'silent') });
  t.strictSame(rowsBelow('How a request flows').map(([step]) => bare(step)), app.steps);
  await app.close();
  await engine.close();
});

t.test('the README explains every refusal of the catalogue, with its status', (t) => {
  const explained = Object.fromEntries(rowsBelow('Failures').map(([code, status]) => [bare(code), Number(status)]));
  t.strictSame(explained, Object.fromEntries(Object.values(REFUSALS).map(({ code, status }) => [code, status])));
  t.end();
});
