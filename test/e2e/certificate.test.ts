import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { AMPLE_PLANS } from '../attacks/front.js';
import { issueCertificate, type Issued } from '../servers/certificate.js';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway, type GatewayOptions } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw, parseAnswers } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { openClient } from './client.js';
import { configPart } from './config-part.js';

/** While renewed: PETGATE_LONG=1 takes more. */
const { RENEWALS, REQUESTS } =
  process.env['PETGATE_LONG'] === '1' ? { RENEWALS: 50, REQUESTS: 2000 } : { RENEWALS: 6, REQUESTS: 300 };
const DAY_MS = 86_400_000;
const issuedIn = temporaryFolder(t);
const [first, second, third, fourth] = [100, 200, 300, 400].map((days, index) =>
  issueCertificate(issuedIn, `no${index}`, { toMs: Date.now() + days * DAY_MS }),
) as [Issued, Issued, Issued, Issued];
const ended = issueCertificate(issuedIn, 'ended', { fromMs: Date.now() - 9 * DAY_MS, toMs: Date.now() - DAY_MS });
/** Trusts every certificate of these tests. */
const ca = [first, second, third, fourth].map((issued) => issued.ca).join('');

/** Replaces one of the served files in one step. */
function put(served: Issued, part: 'cert' | 'key', from: string): void {
  copyFileSync(from, `${served[part]}.new`);
  renameSync(`${served[part]}.new`, served[part]);
}

function renew(served: Issued, next: Issued): void {
  put(served, 'cert', next.cert);
  put(served, 'key', next.key);
}

/** A gateway that serves copies of the first pair, which may be replaced. */
async function startRenewable(
  t: Test,
  options: GatewayOptions = {},
): Promise<{ gateway: Gateway; served: Issued; key: string }> {
  const folder = temporaryFolder(t);
  const served = { ...first, ca, cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  renew(served, first);
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    tls: served,
    ...options,
    environment: { PETS_URL: upstream.url, ...options.environment },
  });
  return { gateway, served, key: (await gateway.createKey({ plan: 'free' })).key };
}

function connectTo({ port }: Gateway, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options });
}

/** Of the certificate that a new connection gets. */
async function serialAt(gateway: Gateway): Promise<string> {
  const socket = connectTo(gateway);
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Of the certificate that the log said last to be in force. */
function toldSerial({ program }: Gateway): string | undefined {
  return program
    .lines()
    .flatMap(({ tls }) => (tls === undefined ? [] : [(tls as { serial: string }).serial]))
    .at(-1);
}

/** Every worker gives this certificate to new connections. */
async function serves(gateway: Gateway, { serial }: Issued): Promise<boolean> {
  return (await Promise.all(Array.from({ length: 8 }, () => serialAt(gateway)))).every((found) => found === serial);
}

const endsIn = async (gateway: Gateway): Promise<number> =>
  Math.round(
    ((await scrape(gateway.adminUrl)).value('petgate_tls_certificate_not_after_seconds') * 1000 - Date.now()) / DAY_MS,
  );

for (const workers of ['1', '2']) {
  t.test(
    `new connections get a renewed certificate, open ones go on, a bad pair changes nothing (workers: ${workers})`,
    async (t) => {
      const { gateway, served, key } = await startRenewable(t, { environment: { PETGATE_WORKERS: workers } });
      t.match(await gateway.program.logged('serving'), { tls: { serial: first.serial } });
      t.equal(await endsIn(gateway), 100);
      const open = connectTo(gateway);
      t.teardown(() => open.destroy());
      let text = '';
      open.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      const asked = async (count: number): Promise<void> => {
        open.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
        await until(
          'the open connection is answered',
          () => parseAnswers(text).filter(({ status }) => status === 200).length === count,
        );
      };
      let session: Buffer = Buffer.alloc(0);
      open.on('session', (ticket: Buffer) => (session = ticket));
      await asked(1);
      await until('the gateway gave a session to resume', () => session.length > 0);

      renew(served, second);
      await until('the renewed one is served', () => serves(gateway, second));
      t.equal(await endsIn(gateway), 200);
      await asked(2);
      t.equal(open.getPeerCertificate().serialNumber, first.serial, 'on the connection of before');

      const old = connectTo(gateway, { session });
      await once(old, 'secureConnect');
      t.equal(
        old.getPeerCertificate().serialNumber,
        second.serial,
        'also who could resume an earlier session gets the new one',
      );
      old.destroy();
      const [outdated] = (await once(
        connectTo(gateway, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
        'error',
      )) as [NodeJS.ErrnoException];
      t.match(outdated.code, /PROTOCOL_VERSION/, 'and the rules hold on');

      put(served, 'cert', third.cert);
      await until('the bad pair is notified of', async () => !(await configPart(gateway)).ok);
      t.match(
        (await configPart(gateway)).detail,
        /tls\.key: .*tls\.key: this key does not belong to the certificate in .*tls\.crt/,
      );
      t.equal((await gateway.admin('GET', '/readyz')).status, 200, 'the gateway stays in service');
      t.equal((await scrape(gateway.adminUrl)).value('petgate_config_ok'), 0);
      t.ok(await serves(gateway, second), 'the one before stays');
      t.equal(await endsIn(gateway), 200, 'and is the one the metric speaks of');
      t.ok(
        gateway.program.lines().some(({ level, msg }) => level === 'error' && /refused/.test(String(msg))),
        'the log says so',
      );

      put(served, 'key', third.key);
      await until('its key came: it is served', () => serves(gateway, third));
      await until(
        'and nothing is wrong any more',
        async () => (await configPart(gateway)).ok && (await scrape(gateway.adminUrl)).value('petgate_config_ok') === 1,
      );
      await asked(3);
      for (const { key: file } of [first, second, third])
        t.notMatch(gateway.program.output(), readFileSync(file, 'utf8').split('\n')[1], 'no key in the log');
    },
  );
}

for (const workers of ['1', '2'])
  t.test(
    `${RENEWALS} renewals during ${REQUESTS} requests, on connections that stay and on new ones: none fails, ` +
      `the new one is seen at once (workers: ${workers})`,
    async (t) => {
      const { gateway, served, key } = await startRenewable(t, {
        config: { log: { access: false } },
        environment: { PETGATE_WORKERS: workers },
      });
      const client = openClient(t, gateway.url, 8, ca);
      const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
      let sent = 0;
      let done = false;
      const statuses = new Map<number | undefined, number>();
      const count = (status: number | undefined): unknown => statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const more = (): boolean => sent < REQUESTS || !done;
      const stay = async (): Promise<void> => {
        for (; more(); sent += 1) count((await client.send(key)).status);
      };
      const come = async (): Promise<void> => {
        for (; more(); sent += 1) count((await exchangeRaw(gateway.target, request))[0]?.status);
      };
      const change = async (): Promise<void> => {
        for (let round = 1; round <= RENEWALS; round += 1) {
          const next = round % 2 === 0 ? first : second;
          renew(served, next);
          gateway.program.child.kill('SIGHUP');
          await until(`renewal ${round} is in force`, () => toldSerial(gateway) === next.serial);
          if (!(await serves(gateway, next))) throw new Error(`renewal ${round} is in force, but not seen`);
        }
        done = true;
      };
      await Promise.all([change(), ...Array.from({ length: 4 }, stay), ...Array.from({ length: 2 }, come)]);
      t.strictSame([...statuses], [[200, sent]], `all of ${sent} are answered`);
      t.ok(sent >= REQUESTS);
      t.ok((await configPart(gateway)).ok);
    },
  );

t.test('a link swapped as Kubernetes does, one further up, a folder made anew: all are followed', async (t) => {
  const folder = temporaryFolder(t);
  const swap = (link: string, to: string): void => {
    symlinkSync(to, `${link}.new`);
    renameSync(`${link}.new`, link);
  };
  const version = (name: string, issued: Issued): void => {
    mkdirSync(join(folder, name));
    copyFileSync(issued.cert, join(folder, name, 'tls.crt'));
    copyFileSync(issued.key, join(folder, name, 'tls.key'));
  };
  for (const [index, issued] of [first, second, third].entries()) version(`v${index}`, issued);
  swap(join(folder, '..data'), 'v0');
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(folder, name));
  const { gateway } = await startRenewable(t, {
    tls: { ...first, ca, cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') },
  });
  swap(join(folder, '..data'), 'v1');
  await until('the swap is followed', () => serves(gateway, second));
  t.ok(
    gateway.program.lines().every(({ msg }) => !/refused/.test(String(msg))),
    'without a moment of half a pair',
  );

  // Files of another folder, behind a link that no watch on that folder sees change.
  swap(join(folder, 'current'), 'v1');
  const config = join(gateway.dataFolder, 'config/gateway.yaml');
  const named = (inFolder: string): string =>
    stringify({
      extends: join(packageRoot, 'config/gateway.yaml'),
      plans: join(gateway.dataFolder, 'config/plans.yaml'),
      tls: { cert: join(inFolder, 'tls.crt'), key: join(inFolder, 'tls.key') },
    });
  writeFileSync(config, named(join(folder, 'current')));
  await gateway.program.logged('settings reloaded');
  swap(join(folder, 'current'), 'v2');
  await until('the link further up is followed', () => serves(gateway, third));

  rmSync(join(folder, 'v2'), { recursive: true });
  await until('gone files are notified of', async () => /no such file/.test((await configPart(gateway)).detail));
  t.equal((await gateway.admin('GET', '/readyz')).status, 200, 'the gateway stays in service');
  t.ok(await serves(gateway, third), 'what they held is still served');
  version('v2', fourth);
  await until('the folder made anew is followed', () => serves(gateway, fourth));

  writeFileSync(config, named(join(folder, 'v9')));
  await until('files not there yet are notified of', async () =>
    /v9.*no such file/.test((await configPart(gateway)).detail),
  );
  version('v9', first);
  await until('and taken when they come', () => serves(gateway, first));
  t.ok((await configPart(gateway)).ok);
});

for (const workers of ['1', '2'])
  t.test(`while an ended certificate is on disk a plan changes all the same (workers: ${workers})`, async (t) => {
    const { gateway, served, key } = await startRenewable(t, { environment: { PETGATE_WORKERS: workers } });
    const client = openClient(t, gateway.url, 1, ca);
    const limit = async (): Promise<string | undefined> => (await client.send(key)).headers.get('x-ratelimit-limit');
    t.equal(await limit(), String(AMPLE_PLANS.free.limits.minute));
    renew(served, ended);
    await until('it is notified of', async () => /tls\.cert: .*ended on/.test((await configPart(gateway)).detail));

    writeFileSync(
      join(gateway.dataFolder, 'config/plans.yaml'),
      stringify(
        { ...AMPLE_PLANS, free: { ...AMPLE_PLANS.free, limits: { minute: 4321, day: 1_000_000 } } },
        { aliasDuplicateObjects: false },
      ),
    );
    await until('every worker holds the new plan', async () =>
      (
        await Promise.all(
          Array.from({ length: 8 }, async () =>
            (
              await exchangeRaw(
                gateway.target,
                `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
              )
            )[0]?.headers.get('x-ratelimit-limit'),
          ),
        )
      ).every((found) => found === '4321'),
    );
    t.equal((await gateway.admin('GET', '/readyz')).status, 200, 'the gateway stays in service');
    t.ok(await serves(gateway, first), 'the certificate before stays');
    t.equal(await endsIn(gateway), 100);
    t.match(await configPart(gateway), {
      ok: false,
      detail: /^the certificate was refused, the previous one stays in force: .*tls\.crt: the certificate ended on/,
    });
    t.equal((await scrape(gateway.adminUrl)).value('petgate_config_ok'), 0);
    t.match(
      await gateway.program.logged(
        'the certificate was refused, the previous one stays in force; all other settings were reloaded',
      ),
      { level: 'error', problems: [/ended on/] },
    );

    writeFileSync(join(gateway.dataFolder, 'config/plans.yaml'), 'free: { limits: { minute: many } }\n');
    await until('a mistake beside it is told with it, and refuses all', async () =>
      /previous settings stay in force: [^]*minute[^]*ended on/.test((await configPart(gateway)).detail),
    );
    t.equal(await limit(), '4321');
  });

t.test('switching TLS off or on waits for a restart, and says so', async (t) => {
  const { gateway } = await startRenewable(t);
  const config = join(gateway.dataFolder, 'config/gateway.yaml');
  const base = {
    extends: join(packageRoot, 'config/gateway.yaml'),
    plans: join(gateway.dataFolder, 'config/plans.yaml'),
  };
  writeFileSync(config, stringify(base));
  await until('it is told', async () => (await configPart(gateway)).detail === 'takes effect after a restart: tls');
  t.ok(await serves(gateway, first), 'meanwhile nothing changes');
  t.equal(await endsIn(gateway), 100);

  const upstream = await startUpstream(t);
  const plain = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  t.equal(
    (await scrape(plain.adminUrl)).families.filter(({ name }) => name.includes('_tls_')).length,
    0,
    'without TLS there is no metric of it',
  );
  writeFileSync(
    join(plain.dataFolder, 'config/gateway.yaml'),
    stringify({ extends: base.extends, tls: { cert: first.cert, key: first.key } }),
  );
  await until('it is told', async () => (await configPart(plain)).detail === 'takes effect after a restart: tls');
  await plain.program.logged('settings reloaded; some of them take effect only after a restart');
  t.equal(toldSerial(plain), undefined, 'no certificate is called in force');
  t.equal((await fetch(`${plain.url}/openapi.json`)).status, 200);
});
