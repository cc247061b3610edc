import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from './fixture.js';
import type { Verdict } from '../../../../src/gateway/admission/verdict.js';
import { byName } from '../../admission/verdict.js';

// A mount of its own, gone with the process that made it.
const mount = 'mount -t tmpfs -o size=400k petgate-test "$1" && shift && exec "$@"';
const inOwnMount = (folder: string, command: readonly string[]): ReturnType<typeof spawnSync> =>
  spawnSync('unshare', ['--mount', 'sh', '-c', mount, 'sh', folder, ...command], { encoding: 'utf8', timeout: 30_000 });

t.test('a full disk refuses clearly, nothing half stays, and the process lives on', (t) => {
  const folder = tempFolder(t);
  if (inOwnMount(folder, ['true']).status !== 0) {
    t.pass('not possible here: mounting a small disk needs root');
    t.end();
    return;
  }
  const script = fileURLToPath(new URL('full-disk.js', import.meta.url));
  const { status, stdout } = inOwnMount(folder, [process.execPath, script, folder]);
  t.equal(status, 0);
  const told = JSON.parse(String(stdout)) as {
    admitted: number;
    refusals: readonly string[];
    verdict: Verdict;
    probe: string;
  };
  t.ok(told.admitted > 0, `${told.admitted} admitted before`);
  t.strictSame(told.refusals, ['StoreUnavailable']);
  t.match(told.probe, /The disk that holds .* is full/, 'the probe, and so /readyz, says so');
  t.match(
    byName(told.verdict),
    { outcome: 'admitted', windows: { minute: { remaining: 1_000_000 - told.admitted } } },
    'a refused batch spent nothing',
  );
  t.end();
});
