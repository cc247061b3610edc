import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import t from 'tap';
import { samplesOf } from '../../../src/gateway/contract/samples.js';
import type { CredentialLocation } from '../../../src/gateway/refusals/credential-location.js';
import { listen } from '../../servers/listen.js';

const KEY = `k'"$ey`;
const run = promisify(execFile);
const env = { ...process.env, API_KEY: KEY };

/** What each location has to send, in a header field or in the query. */
const LOCATIONS: readonly (readonly [CredentialLocation, field: string, value: string])[] = [
  ['bearer', 'authorization', `Bearer ${KEY}`],
  [{ scheme: 'token' }, 'authorization', `token ${KEY}`],
  [{ header: 'X-Api-Key' }, 'x-api-key', KEY],
  [{ basic: 'username' }, 'authorization', `Basic ${btoa(`${KEY}:`)}`],
  [{ basic: 'password' }, 'authorization', `Basic ${btoa(`:${KEY}`)}`],
];

interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receive(): Promise<{
  base: string;
  seen: Seen[];
}> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { url = '', method = '', headers } = request;
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ url, method, headers, body });
      response.end('served');
    });
  });
  return { base: `http://127.0.0.1:${(await listen(t, server)).port}`, seen };
}

/** Runs a sample; undefined where its language is not installed. */
async function output(language: string, text: string): Promise<string | undefined> {
  if (language === 'Go') return undefined;
  const programs: Readonly<Record<string, readonly [string, ...string[]]>> = {
    curl: ['bash', '-c', text.replace('curl', 'curl -s')],
    JavaScript: [process.execPath, '--input-type=module', '--eval', text],
    Python: ['python3', '-c', text],
  };
  const [program, ...args] = programs[language]!;
  try {
    return (await run(program, args, { env })).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

for (const [location, field, value] of LOCATIONS)
  t.test(`samples send the key where it is read: ${JSON.stringify(location)}`, async (t) => {
    const { base, seen } = await receive();
    for (const method of ['GET', 'POST'])
      for (const [language, text] of samplesOf(base, { method, target: '/v1/pets?a=%22b' }, location)) {
        t.notMatch(text, KEY, 'the key is not in it');
        seen.length = 0;
        const said = await output(language, text);
        if (said === undefined) {
          t.match(text, 'API_KEY', language);
          continue;
        }
        t.match(said, 'served', language);
        t.match(seen, [{ url: '/v1/pets?a=%22b', method, headers: { [field]: value } }], `${language}, ${method}`);
      }
  });

t.test('a key in the query is added to what the query has', async (t) => {
  const { base, seen } = await receive();
  for (const [target, expected] of [
    ['/pets', '/pets?key='],
    ['/pets?a=b', '/pets?a=b&key='],
  ] as const)
    for (const language of ['curl', 'JavaScript']) {
      await output(language, samplesOf(base, { method: 'GET', target }, { query: 'key' }).get(language)!);
      t.ok(seen.at(-1)!.url.startsWith(expected), `${language}: ${seen.at(-1)!.url}`);
    }
});

t.test('a body is sent as it is; a public operation gets no key', async (t) => {
  const { base, seen } = await receive();
  const body = { type: 'application/json', text: '{"name":"Rex\'s \\"$API_KEY\\" ü",\n"categoryId":9007199254740993}' };
  for (const [language, text] of samplesOf(base, { method: 'POST', target: '/v1/pets', body }, null)) {
    t.notMatch(text, /[Aa]uthorization/, language);
    if (language === 'Go') {
      t.match(text, '\t"strings"');
      t.match(text, `strings.NewReader(${JSON.stringify(body.text)})`);
      t.notMatch(text, '"os"', 'Go refuses imports that nothing uses');
      continue;
    }
    seen.length = 0;
    if ((await output(language, text)) === undefined) continue;
    t.match(seen, [{ body: body.text, headers: { 'content-type': body.type } }], language);
  }
});
