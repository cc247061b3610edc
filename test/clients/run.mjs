/**
 * `npm run clients`: installs the SDKs of sdks.mjs into dist/clients, and holds each to what a key holder relies on: a
 * success, its own errors for the vendor's error and for the gateway's 401 and 429, a retry no earlier than Retry-After
 * allows, and a ledger that has each request. Words on the command line choose the SDKs whose name has one of them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureReady } from '../../src/bootstrap.mjs';
import { PACKAGES, SDKS } from './sdks.mjs';
import { sellTokens } from './tokens.mjs';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const folder = join(dist, 'clients');
/** One unit comes back every three seconds: that is Retry-After. */
const TIGHT = { minute: 20, day: 1_000 };
const NO_BAN = { after: 1_000_000 };

await ensureReady();
install();
const [{ startGateway }, { startUpstream }] = await Promise.all(
  ['gateway', 'upstream'].map((name) => import(join(dist, `test/servers/${name}.js`))),
);
const words = process.argv.slice(2);
const chosen = SDKS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const results = await Promise.all(chosen.map((sdk) => run(sdk)));
for (const { name, lines } of results) console.log([`${name}@${PACKAGES[name]}`, ...lines].join('\n  '));
const failed = results.reduce((sum, { failures }) => sum + failures, 0);
console.log(`${results.length} SDKs, ${failed} failures`);
process.exitCode = failed === 0 ? 0 : 1;

function install() {
  const wanted = `${JSON.stringify({ private: true, dependencies: PACKAGES }, null, 2)}\n`;
  const file = join(folder, 'package.json');
  if (existsSync(join(folder, 'node_modules')) && existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  console.log(`Installing ${Object.keys(PACKAGES).join(', ')} into ${folder} (190 MB, once) …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, wanted);
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  if (spawnSync('npm', args, { stdio: 'inherit' }).status !== 0) process.exit(1);
}

/** The module of a package, as its `exports` say it to an import. */
async function load(name) {
  const root = join(folder, 'node_modules', name);
  const { exports, main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entry = exports?.['.'] ?? exports;
  const file = typeof entry === 'string' ? entry : (conditionOf(entry) ?? main);
  return import(pathToFileURL(join(root, file)));
}

function conditionOf(entry) {
  if (entry === undefined || typeof entry === 'string') return entry;
  return conditionOf(entry.import ?? entry.node ?? entry.default);
}

async function run(sdk) {
  const ends = [];
  const t = { teardown: (end) => ends.unshift(end) };
  const lines = [];
  let failures = 0;
  const check = (isGood, text) => {
    lines.push(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
    if (!isGood) failures += 1;
  };
  try {
    await hold(t, sdk, check);
    if (sdk.name === 'openai')
      await sellTokens(t, await load(sdk.name), { startGateway, startUpstream, countsOf }, check);
  } catch (error) {
    check(false, error instanceof Error ? error.stack : String(error));
  }
  for (const end of ends) await end();
  return { name: sdk.name, lines, failures };
}

async function hold(t, sdk, check) {
  const module = await load(sdk.name);
  const upstream = await startUpstream(t);
  const answerWith = ({ status, type, body }) => {
    upstream.handle = (_seen, response) => response.writeHead(status, { 'content-type': type }).end(body);
  };
  const limits = { minute: 1_000, day: 10_000 };
  const gateway = await startGateway(t, {
    plans: {
      free: { limits, ban: NO_BAN },
      tight: { limits: TIGHT, refill: 'greedy', ban: NO_BAN },
      anonymous: { limits, ban: NO_BAN },
    },
    config: { contract: 'none', ...sdk.settings, upstreams: { default: { addresses: [upstream.url] } } },
  });
  const { url } = gateway;
  const [free, tight] = [await gateway.createKey({ plan: 'free' }), await gateway.createKey({ plan: 'tight' })];
  const ask = (key, retries) => sdk.ask(sdk.open(module, { url, key, retries }), module);
  const thrown = async (key, read, wanted) => {
    const error = await ask(key, 0).then(
      () => null,
      (reason) => reason,
    );
    const code = error === null ? 'nothing was thrown' : read(error, module) || `${error.constructor.name}: ${error}`;
    return [code === wanted, `${error?.constructor.name} ${code}`];
  };
  const said = async (what, key, read, wanted) => {
    const [isGood, text] = await thrown(key, read, wanted);
    check(isGood, `${what}: ${text}`);
  };

  answerWith(sdk.success);
  await ask(free.key, 0);
  check(upstream.seen.length === 1, 'a request is answered');
  answerWith(sdk.failure);
  await said("the vendor's own error", free.key, sdk.own, sdk.ownCode);
  await said('a key that is not valid', 'nobody', sdk.refused, 'invalid_api_key');
  answerWith(sdk.success);
  await drain(url, sdk.fieldOf?.(tight.key) ?? { authorization: `Bearer ${tight.key}` });
  await said('above the limit', tight.key, sdk.limited, 'rate_limited');
  await obeys(gateway, tight, (retries) => ask(tight.key, retries), sdk.waits, check);
  const { requests } = await countsOf(gateway);
  check(requests === upstream.seen.length, `the ledger has ${requests} requests, the upstream ${upstream.seen.length}`);
}

/** Spends what the key has. */
async function drain(url, headers) {
  for (let n = 0; n <= TIGHT.minute; n += 1) {
    const answer = await fetch(`${url}/drain`, { headers });
    await answer.arrayBuffer();
    if (answer.status === 429) return;
  }
}

/** With retries on, the same request waits as it is told, and then passes: after one refusal, not several. */
async function obeys(gateway, { id }, ask, waits, check) {
  const before = await countsOf(gateway, id);
  const beganMs = performance.now();
  await ask(3).catch(async (error) => {
    // Stripe's SDK repeats no 429: whoever called it reads in the error how long to wait.
    if (waits === undefined) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000 * waits(error)));
    await ask(0);
  });
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
  const { limited } = await countsOf(gateway, id);
  check(limited - before.limited <= 1, `waits as Retry-After says: ${seconds} s, ${limited - before.limited} refusals`);
}

async function countsOf(gateway, key) {
  const [from, to] = [-86_400_000, 0].map((ms) => new Date(Date.now() + ms).toISOString().slice(0, 10));
  const of = key === undefined ? '' : `&key=${key}`;
  const { body } = await gateway.admin('GET', `/admin/v1/usage?from=${from}&to=${to}&by=key${of}`);
  return body.totals;
}
