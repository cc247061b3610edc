import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { temporaryFolder } from '../servers/program.js';
import { startUpstream } from '../servers/upstream.js';
import { begin, surroundings } from '../cli/programs.js';
import { ready } from '../cli/start/ready.js';

t.test('what npm pack makes, installed into an empty folder, stands in front of an API', async (t) => {
  const folder = temporaryFolder(t);
  const npm = (...args: readonly string[]): string => execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8' });
  const [packed] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder)) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  const names = packed.files.map(({ path }) => path);
  t.ok(names.includes('dist/program/main.js') && names.includes('config/plans.yaml'));
  t.same(
    names.filter((name) =>
      /^(?:dist\/(?!program\/)|src\/(?!gateway\/store\/redis\/scripts\/)|test\/|data\/|node_modules\/|\.)/.test(name),
    ),
    [],
    'nothing of how it is made',
  );
  // As npm would lay it out, with what it needs as it is installed here.
  const installed = join(folder, 'node_modules', 'petgate');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components', '1']);
  for (const name of readdirSync(join(packageRoot, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(packageRoot, 'node_modules', name), join(folder, 'node_modules', name));

  const upstream = await startUpstream(t);
  const environment = { ...surroundings(folder), PETGATE_DATA: '' };
  const program = join(installed, 'dist/program/main.js');
  const running = begin(t, ['start', '--upstream', upstream.url], environment, folder, program);
  const url = (await ready(running)).get('gateway')!;
  const [, key = ''] = /Bearer (ptg_\w+)'/.exec(running.output()) ?? [];
  const answer = await fetch(`${url}/a`, { headers: { authorization: `Bearer ${key}` } });
  t.equal(answer.status, 200);
  t.equal((await fetch(`${url}/_petgate/docs`)).status, 200);
  t.same(readdirSync(join(folder, 'data')).length > 0, true, 'its data is in the folder, not in the package');
  running.child.kill('SIGTERM');
  t.equal(await running.ended, 0);
});
