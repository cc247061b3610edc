import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createPieces } from '../../../src/gateway/contract/served/piece.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { startBrowser } from '../../servers/browser.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { GITHUB, NO_GITHUB } from '../../servers/github.js';
import { danglingIn } from '../../servers/references.js';

/** The tag of GitHub's document that has the most operations. */
const LARGEST = 'repos';
/** Three seconds on a machine that has nothing else to do. */
const MAX_MS = 20_000;

function ask(
  { url }: Gateway,
  target: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> {
  return fetch(url + target, { method, headers });
}

t.test('pages and documents of tags are answered as those of the whole are', async (t) => {
  const contract = join(t.testdir({}), 'api.json');
  const paths = Array.from({ length: 200 }, (_, n) => [
    `/p${n}`,
    { get: { tags: [n % 2 === 0 ? 'größe' : '__proto__'] } },
  ]);
  writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', paths: Object.fromEntries(paths) as object }));
  const gateway = await startGateway(t, { config: { contract, workers: 2 } });
  const docs = '/_petgate/docs';
  for (const tag of ['größe', '__proto__', 'gateway']) {
    const query = `?tag=${encodeURIComponent(tag)}`;
    const page = await ask(gateway, docs + query);
    t.equal(page.status, 200, tag);
    t.match(await page.text(), `data-document="/_petgate/openapi.json${query}"`);
    const known = await ask(gateway, docs + query, { 'if-none-match': page.headers.get('etag')! });
    t.equal(known.status, 304);
    const part = await ask(gateway, `/_petgate/openapi.json${query}`);
    const { length } = await part.text();
    const head = await ask(gateway, `/_petgate/openapi.json${query}`, {}, 'HEAD');
    t.equal(Number(head.headers.get('content-length')) >= length, true);
    t.equal(part.headers.get('cache-control'), 'public, max-age=300');
    t.ok(part.headers.get('x-ratelimit-limit'));
  }
  for (const target of [docs, '/_petgate/openapi.json'])
    for (const query of ['?tag=none', '?tag=', '?tag=constructor', '?untagged']) {
      const answer = await ask(gateway, target + query);
      t.equal(answer.status, 404, target + query);
      t.match(await answer.json(), { code: 'not_found', status: 404 });
    }
});

t.test(
  'of a large document a browser shows the index, and the operations of a tag, in little time',
  { skip: NO_GITHUB },
  async (t) => {
    const gateway = await startGateway(t, { config: { contract: GITHUB } });
    const page = await (await startBrowser(t)).newPage();
    const troubles: string[] = [];
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    const measure = async (what: string, open: () => Promise<unknown>, selector: string): Promise<void> => {
      const started = performance.now();
      await open();
      await page.waitForSelector(selector, { timeout: MAX_MS });
      t.comment(`${what}: ${((performance.now() - started) / 1000).toFixed(2)} s`);
      t.pass(what);
    };
    const link = `a[href="/_petgate/docs?tag=${LARGEST}"]`;
    await measure('the index', () => page.goto(`${gateway.url}/_petgate/docs`), link);
    await measure('a tag', () => page.click('a[href="/_petgate/docs?tag=gists"]'), '#swagger-ui .opblock');
    await page.goBack();
    await measure('the largest tag', () => page.click(link), '#swagger-ui .opblock');
    t.same(troubles, [], 'the console stays clean');
  },
);

t.test(
  'every operation of a large document is in the piece of its tag, with all that it needs',
  { skip: NO_GITHUB },
  (t) => {
    const contract = loadContract(GITHUB);
    const pieces = createPieces(contract);
    const tags = [...new Set(contract.routes.operations.flatMap((operation) => operation.tags))];
    let [operations, bytes] = [0, 0];
    for (const tag of tags) {
      const piece = pieces(tag)!;
      bytes = Math.max(bytes, piece.length);
      const { paths } = JSON.parse(piece.toString()) as {
        readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      };
      for (const item of Object.values(paths))
        operations += Object.keys(item).filter((name) => /^(?:get|put|post|delete|patch)$/.test(name)).length;
      t.strictSame(danglingIn(JSON.parse(piece.toString()) as object), [], tag);
    }
    t.equal(operations, contract.routes.operations.length);
    t.comment(`${tags.length} tags; of ${contract.document.length} bytes the largest piece has ${bytes}`);
    t.end();
  },
);
