import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fingerprintOf, hashOf, type Fingerprint } from '../../../src/gateway/config/fingerprint.js';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { temporaryFolder } from '../../servers/program.js';

t.test('what gateways must share changes its hash, and what is a machine’s own, or secret, does not', (t) => {
  const folder = temporaryFolder(t);
  const hashesOf = (settings: string, free: string, environment = {}, document = '{}'): Fingerprint => {
    const ban = 'ban: { after: 30 }';
    const plans = [`free: { ${free}, ${ban} }`, `anonymous: { limits: { minute: 9, day: 9 }, ${ban} }`];
    writeFileSync(join(folder, 'plans.yaml'), plans.join('\n'));
    writeFileSync(join(folder, 'gateway.yaml'), `plans: plans.yaml\n${settings}`);
    return fingerprintOf(
      loadSettings({ PETGATE_CONFIG: join(folder, 'gateway.yaml'), ...environment }),
      hashOf(document),
    );
  };
  const limits = 'limits: { minute: 60, day: 1000 }';
  const first = hashesOf('', limits);
  t.match(first, { plans: /^[0-9a-f]{8}$/, contract: /^[0-9a-f]{8}$/, settings: /^[0-9a-f]{8}$/ });
  const own = {
    PORT: '1',
    ADMIN_HOST: '::',
    PETGATE_WORKERS: '7',
    PETGATE_DATA: folder,
    REDIS_URL: 'redis://:secret@h',
  };
  t.same(hashesOf('', limits, own), first);
  const changed = (other: Fingerprint): readonly string[] =>
    (['plans', 'contract', 'settings'] as const).filter((name) => other[name] !== first[name]);
  t.same(changed(hashesOf('', 'limits: { minute: 61, day: 1000 }')), ['plans']);
  t.same(changed(hashesOf('', `${limits}, operations: { createPet: { cost: 2 } }`)), ['plans'], 'prices too');
  t.same(changed(hashesOf('', limits, {}, '{"openapi":"3.1.0"}')), ['contract']);
  t.same(changed(hashesOf('limits: { body_size: 2MiB }', limits)), ['settings']);
  t.same(changed(hashesOf('environment: staging', limits)), ['settings']);
  t.end();
});
