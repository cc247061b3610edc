import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/program/main.js', import.meta.url));
const PLANS = fileURLToPath(new URL('../../config/plans.yaml', import.meta.url));
const TOKEN = 'admin-token-of-the-programs';

/** The gateway in front of `upstream`, with a key of the plan business. */
export async function startGateway({ folder }, upstream, { upstream: more = {}, ...config }) {
  const data = join(folder, 'data');
  mkdirSync(data);
  const settings = join(folder, 'gateway.yaml');
  const own = { contract: 'none', plans: PLANS, data, upstreams: { default: { addresses: [upstream], ...more } } };
  writeFileSync(settings, JSON.stringify({ ...own, ...config }));
  const child = spawn(process.execPath, [MAIN, 'gateway'], {
    env: {
      ...process.env,
      PETGATE_CONFIG: settings,
      PETGATE_ADMIN_TOKEN: TOKEN,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop();
    for (const line of parts) if (line.startsWith('{')) lines.push(JSON.parse(line));
  });
  const serving = await untilTrue(() => lines.find(({ msg }) => msg === 'serving') ?? child.exitCode !== null);
  if (serving === true) throw new Error(`the gateway ended: ${JSON.stringify(lines.at(-1))}`);
  const admin = async (method, path, body) =>
    (
      await fetch(`http://${serving.admin}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      })
    ).json();
  const { key, id } = await admin('POST', '/keys', { plan: 'business', name: 'programs' });
  const exchanges = () => lines.filter(({ msg }) => msg === 'exchange');
  const ledgerOf = async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { rows } = await admin('GET', `/usage?from=${today}&to=${today}&by=key`);
    return rows.find((row) => row.key === id)?.requests ?? 0;
  };
  return {
    url: `http://${serving.public}`,
    host: serving.public,
    key,
    /** What the access log counted, once it has as many as the ledger; the 401s that were free. */
    totals: async () => {
      const count = () => exchanges().filter(({ counted }) => counted).length;
      let ledger = 0;
      await untilTrue(async () => (ledger = await ledgerOf()) === count(), 5_000).catch(() => undefined);
      return { counted: count(), ledger, free: exchanges().filter(({ code }) => code === 'missing_api_key').length };
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** What `check` gives once it gives anything. */
export async function untilTrue(check, withinMs = 60_000) {
  for (const endMs = Date.now() + withinMs; ;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > endMs) throw new Error(`nothing after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
