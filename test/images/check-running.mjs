import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Container } from './container.mjs';

const FIGURES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** Starts both programs as their images say, asks them, and stops them. */
export async function checkRunning(check, buildah, folder, images) {
  const [port, adminPort, petsPort] = [await freePort(), await freePort(), await freePort()];
  const token = { PETGATE_INTERNAL_TOKEN: randomBytes(16).toString('hex') };
  const pets = new Container(buildah, images.pets, folder, { ...token, PETS_HOST: '127.0.0.1', PETS_PORT: petsPort });
  const gateway = new Container(buildah, images.gateway, folder, {
    ...token,
    HOST: '127.0.0.1',
    PORT: port,
    ADMIN_PORT: adminPort,
    PETS_URL: `http://127.0.0.1:${petsPort}`,
  });
  await checkStart(check, 'pets', pets, `http://127.0.0.1:${petsPort}/livez`);
  await checkStart(check, 'gateway', gateway, `http://127.0.0.1:${adminPort}/livez`);
  await checkAnswers(check, gateway, `http://127.0.0.1:${port}/v1/pets`);
  await checkStop(check, 'gateway', gateway);
  await checkStop(check, 'pets', pets);
}

async function checkStart(check, name, container, livez) {
  const beganMs = performance.now();
  container.start();
  const { status } = await container.firstAnswer(livez);
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  check(status === 200, `${name}: /livez is 200 on a read-only root`, status);
  console.log(`     ${name}: first answer after ${seconds} s`);
  const { uids, capabilities, isReadOnly } = container.seen();
  check(
    uids === '1000\t1000\t1000\t1000' && /^0+$/.test(capabilities),
    `${name}: runs as user 1000, without capabilities`,
    { uids, capabilities },
  );
  check(isReadOnly, `${name}: its root is mounted read-only`);
  check(await container.isHealthy(), `${name}: the image's health check passes`);
}

async function checkAnswers(check, gateway, url) {
  const stranger = await fetch(url);
  const figures = FIGURES.map((name) => stranger.headers.get(name));
  check(stranger.status === 401, 'gateway: 401 on /v1/pets without a key', {
    status: stranger.status,
    body: await stranger.text(),
  });
  check(
    figures.every((figure) => /^\d+$/.test(figure)),
    'gateway: with rate figures',
    figures,
  );
  const { code, output } = await gateway.exec([
    'node',
    'dist/program/main.js',
    'keys',
    'create',
    '--plan',
    'free',
    '--name',
    'Images',
    '--json',
  ]);
  check(code === 0, 'gateway: its own command line makes a key', output);
  const { key } = code === 0 ? JSON.parse(output) : {};
  const client = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  check(client.status === 200, 'gateway: with a key the answer comes from pets', {
    status: client.status,
    body: await client.text(),
  });
}

async function checkStop(check, name, container) {
  const code = await container.stop();
  check(code === 0, `${name}: SIGTERM ends it with 0`, container.output);
  check(!/EROFS|EACCES|EPERM/.test(container.output), `${name}: it tried to write nowhere else`, container.output);
}

async function freePort() {
  for (;;) {
    // Below those that the system gives to whoever asks for any.
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return String(port);
  }
}
