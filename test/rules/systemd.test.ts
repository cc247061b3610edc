import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadSources } from '../../src/gateway/config/load.js';
import { packageRoot } from '../../src/shared/package-root.js';

t.test('systemd stops only the process that stops its workers, and waits long enough', (t) => {
  const unit = readFileSync(join(packageRoot, 'config/systemd/petgate.service'), 'utf8');
  const { settings } = loadSources({
    PETGATE_CONFIG: join(packageRoot, 'config/production.yaml'),
    REDIS_URL: 'redis://a',
  });
  t.match(unit, /^KillMode=mixed$/m);
  const stopMs = 1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  t.ok(stopMs > settings.drain + settings.shutdown, 'longer than drain and shutdown', { stopMs });
  const [, program = ''] = /^ExecStart=\S*node \/opt\/petgate\/(\S+) gateway$/m.exec(unit) ?? [];
  t.ok(program !== '' && existsSync(join(packageRoot, program)), 'what it starts is built');
  t.end();
});
