import t from 'tap';
import { listen } from '../../admin/listener.js';

const TERMS = { limits: { minute: 60, day: 1000 }, ban: { after: 30 } };
const CHECK = '/admin/v1/plans/check';

/** A plan that prices so many operations that nobody has. */
function priced(count: number): Readonly<Record<string, unknown>> {
  const operations = Object.fromEntries(Array.from({ length: count }, (_, n) => [`operatiom${n}`, { cost: 2 }]));
  return { anonymous: TERMS, free: { ...TERMS, operations } };
}

t.test('a large file of plans is read in a thread: nobody waits for it', async (t) => {
  const { ask } = await listen(t);
  const progress = { isRead: false };
  const read = ask('POST', CHECK, priced(30_000)).finally(() => (progress.isRead = true));
  let answered = 0;
  while (!progress.isRead) {
    t.equal((await ask('GET', '/admin/v1/plans')).status, 200);
    answered += 1;
  }
  const { status, json } = await read;
  t.equal(status, 200);
  t.equal((json['warnings'] as readonly string[]).length, 1000, 'and no more is said than somebody reads');
  t.ok(answered > 5, `${answered} others were answered meanwhile`);
});

t.test('what is no file of plans is refused as any other body', async (t) => {
  const { ask } = await listen(t);
  t.match(await ask('POST', CHECK, '{"free":{},"free":{}}'), { status: 400, json: { code: 'invalid_body' } });
  t.match(await ask('POST', CHECK, '[]'), { status: 400, json: { message: /one JSON object/ } });
  t.match(await ask('POST', CHECK, ' '.repeat(2 ** 20 + 1)), { status: 413, json: { code: 'body_too_large' } });
  t.match(await ask('POST', CHECK, { anonymous: 1 }), { status: 200, json: { problems: [/^anonymous: /] } });
});
