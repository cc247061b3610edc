import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { packageRoot } from '../../../src/shared/package-root.js';
import { DAY_MS, dayOf } from '../../../src/shared/utc-day.js';
import { steppedClock, type SteppedClock } from '../../servers/clock.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder } from '../../servers/program.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

const PRICE = { monthly: 4900, included: 10, per_unit: 1, currency: 'EUR' };
/** Guides whose reports are of amounts. */
export const PRICED: readonly string[] = ['billing', 'rehearsal'];

function plans(isPriced: boolean, day = 1_000, minute = 60): Readonly<Record<string, unknown>> {
  const rest = { ban: NO_BAN, ...(isPriced ? { price: PRICE } : {}) };
  return {
    free: { limits: { minute, day }, ...rest },
    pro: { limits: { minute: 300, day: 10_000 }, ...rest },
    enterprise: { limits: 'custom', ...rest },
    anonymous: { limits: { minute: 1, day: 1_000 }, ban: { after: 1 } },
  };
}

/** What a page calls by an example's name, and what it is here. */
export type Names = Record<string, string>;

/** Where the guides are followed: one gateway, with a folder for files. */
interface Place {
  readonly gateway: Gateway;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: SteppedClock;
  readonly customer: (name: string, plan?: string, reference?: string) => Promise<string>;
  /** `count` requests of a key. */
  readonly ask: (key: string, count: number, fields?: Readonly<Record<string, string>>) => Promise<void>;
}

export async function openPlace(t: Test, isPriced: boolean): Promise<Place> {
  const upstream = await startUpstream(t);
  const folder = temporaryFolder(t);
  const clock = steppedClock(t);
  const gateway = await startGateway(t, {
    plans: plans(isPriced),
    config: { upstreams: { pets: { addresses: [upstream.url] } }, trusted_proxies: ['127.0.0.1'] },
    // Nobody is there: events wait.
    environment: {
      ...clock.environment,
      PETGATE_EVENTS_URL: 'https://receiver.invalid/',
      PETGATE_EVENTS_SECRET: `whsec_${'A'.repeat(43)}=`,
    },
  });
  const program = `'${process.execPath}' '${join(packageRoot, 'dist/program/main.js')}'`;
  const script = `#!/bin/sh\nexec ${program} --admin-url ${gateway.adminUrl} "$@"\n`;
  writeFileSync(join(folder, 'petgate'), script, { mode: 0o755 });
  for (const [file, priced] of [
    ['plans-2027.yaml', true],
    ['unpriced.yaml', false],
  ] as const)
    writeFileSync(join(folder, file), stringify(plans(priced, 5, 4), { aliasDuplicateObjects: false }));
  const environment = {
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: folder,
    PETGATE_DATA: folder,
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  return {
    ...{ gateway, folder, environment, clock },
    customer: async (name, plan = 'free', reference = '') => {
      const { status, body } = await gateway.admin('POST', '/admin/v1/customers', { name, plan, reference });
      if (status !== 201) throw new Error(`no customer: ${status} ${JSON.stringify(body)}`);
      return (body as { id: string }).id;
    },
    ask: async (key, count, fields = {}) => {
      const headers = { authorization: `Bearer ${key}`, ...fields };
      for (let n = 0; n < count; n += 1) await (await fetch(`${gateway.url}/v1/pets`, { headers })).arrayBuffer();
    },
  };
}

/** What a guide takes for granted, and how its names are said here; by guide. */
export const SETTINGS: Readonly<Record<string, (place: Place) => Promise<Names>>> = {
  'admin-access': () => Promise.resolve({}),
  billing: async ({ customer, gateway, ask, clock }) => {
    clock.step(-62 * DAY_MS);
    let id = '';
    await until('it is two months ago', async () => {
      id = await customer('Big shop', 'pro');
      const { body } = await gateway.admin('GET', `/admin/v1/customers/${id}`);
      return JSON.stringify(body).includes(`"created":"${dayOf(Date.now() - 62 * DAY_MS)}`);
    });
    await gateway.admin('PATCH', `/admin/v1/customers/${id}`, { reference: 'C-1042' });
    await ask((await gateway.createKey({ customer: id })).key, 12);
    clock.step(0);
    const [then, yesterday] = [dayOf(Date.now() - 62 * DAY_MS), dayOf(Date.now() - DAY_MS)];
    return { '8TKc6ylL': id, '2026-09': then.slice(0, 7), '2026-11-03': yesterday };
  },
  customers: async ({ customer, gateway, ask }) => {
    const id = await customer('Big shop', 'free', 'C-1042');
    for (const name of ['Web shop', 'Nightly batch'])
      await ask((await gateway.createKey({ customer: id, name })).key, 1);
    return { '8TKc6ylL': id };
  },
  events: async ({ gateway }) => {
    const { id } = await gateway.createKey({ plan: 'free' });
    await gateway.admin('PATCH', `/admin/v1/keys/${id}`, { plan: 'pro' });
    let event = '';
    await until('an event waits', async () => {
      const { body } = await gateway.admin('GET', '/admin/v1/events');
      event = /"id":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? '';
      return event !== '';
    });
    return { '3hT9sQ0aZk1B-x0FvQ7mJc2Ld': event };
  },
  keys: async ({ customer, gateway }) => {
    const { id } = await gateway.createKey({ plan: 'free' });
    const payer = await customer('Big shop');
    const { key } = await gateway.createKey({ customer: payer });
    return { '3hT9sQ0aZk1B': id, ru1GxhFz: payer, $KEY: key };
  },
  'limits-and-headers': async ({ ask }) => {
    for (const address of ['192.0.2.7', '2001:db8:7:1::9']) await ask('bad', 3, { 'x-forwarded-for': address });
    return {};
  },
  monitoring: async ({ gateway, ask }) => {
    const { key } = await gateway.createKey({ plan: 'free', name: 'Shop' });
    await ask(key, 60);
    await ask(key, 1, { 'x-request-id': '2f6c1d0e8a7b4c5d9e0f1a2b3c4d5e6f', 'x-forwarded-for': '203.0.113.7' });
    return {};
  },
  'personal-data': async ({ customer, gateway }) => {
    const { id } = await gateway.createKey({ plan: 'free' });
    await gateway.admin('DELETE', `/admin/v1/keys/${id}`);
    return { '3hT9sQ0aZk1B': id, '8hK2mQ0z': await customer('Zoe') };
  },
  rehearsal: async ({ customer, gateway, ask, folder }) => {
    await ask((await gateway.createKey({ plan: 'free' })).key, 12);
    await ask((await gateway.createKey({ customer: await customer('Pet shop'), name: 'One' })).key, 12);
    let log = '';
    await until('all is logged', () => (log = gateway.program.output()).split('"operation":"listPets"').length > 24);
    writeFileSync(join(folder, 'gateway-a.log'), log);
    writeFileSync(join(folder, 'gateway-b.log.1.gz'), gzipSync(''));
    // Of the two examples only one is of amounts.
    return { 'plans-2027.yaml --log': 'unpriced.yaml --log' };
  },
};
